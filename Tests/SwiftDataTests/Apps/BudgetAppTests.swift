import Foundation
import SwiftData
import Testing

// A budget: accounts with payments in decimal money. The second version moves the payee's name
// into a model of its own, and the third one removes the name.

enum BudgetAccountKind: Int, Codable {
    case cash = 1
    case checking, card
}

struct BudgetLimit: Codable, Hashable {
    var amount: Decimal
    var currency: String = "EUR"
}

enum BudgetV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Account.self, Category.self, Payment.self] }

    @Model final class Account {
        @Attribute(.unique) var name: String
        var kind: BudgetAccountKind
        var opening: Decimal
        @Relationship(deleteRule: .cascade, inverse: \Payment.account) var payments: [Payment] = []

        init(name: String, kind: BudgetAccountKind, opening: Decimal) {
            self.name = name
            self.kind = kind
            self.opening = opening
        }
    }

    @Model final class Category {
        var name: String
        var limit: BudgetLimit?
        @Relationship(inverse: \Payment.category) var payments: [Payment] = []

        init(name: String, limit: BudgetLimit? = nil) {
            self.name = name
            self.limit = limit
        }
    }

    @Model final class Payment {
        var date: Date
        var amount: Decimal
        var payeeName: String
        var note: String?
        var account: Account
        var category: Category?

        init(date: Date, amount: Decimal, payeeName: String, account: Account) {
            self.date = date
            self.amount = amount
            self.payeeName = payeeName
            self.account = account
        }
    }
}

enum BudgetV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Account.self, Category.self, Payment.self, Payee.self]
    }

    @Model final class Account {
        @Attribute(.unique) var name: String
        var kind: BudgetAccountKind
        var opening: Decimal
        @Relationship(deleteRule: .cascade, inverse: \Payment.account) var payments: [Payment] = []

        init(name: String, kind: BudgetAccountKind, opening: Decimal) {
            self.name = name
            self.kind = kind
            self.opening = opening
        }
    }

    @Model final class Category {
        var name: String
        var limit: BudgetLimit?
        @Relationship(inverse: \Payment.category) var payments: [Payment] = []

        init(name: String) { self.name = name }
    }

    @Model final class Payment {
        var date: Date
        var amount: Decimal
        var payeeName: String
        var note: String?
        var account: Account
        var category: Category?
        var payee: Payee?

        init(date: Date, amount: Decimal, payeeName: String, account: Account) {
            self.date = date
            self.amount = amount
            self.payeeName = payeeName
            self.account = account
        }
    }

    @Model final class Payee {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Payment.payee) var payments: [Payment] = []

        init(name: String) { self.name = name }
    }
}

enum BudgetV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Account.self, Category.self, Payment.self, Payee.self]
    }

    @Model final class Account {
        @Attribute(.unique) var name: String
        var kind: BudgetAccountKind
        @Attribute(originalName: "opening") var openingBalance: Decimal
        var monthlyFee: Decimal = 4.95
        @Relationship(deleteRule: .cascade, inverse: \Payment.account) var payments: [Payment] = []

        init(name: String, kind: BudgetAccountKind, openingBalance: Decimal) {
            self.name = name
            self.kind = kind
            self.openingBalance = openingBalance
        }
    }

    @Model final class Category {
        var name: String
        var limit: BudgetLimit?
        @Relationship(deleteRule: .deny, inverse: \Payment.category) var payments: [Payment] = []

        init(name: String) { self.name = name }
    }

    @Model final class Payment {
        #Index<Payment>([\.date], [\.amount])

        var uuid: UUID = UUID()
        var date: Date
        var amount: Decimal
        var fee: Decimal = 0.25
        var note: String?
        var account: Account
        var category: Category?
        var payee: Payee?

        init(date: Date, amount: Decimal, account: Account, payee: Payee? = nil) {
            self.date = date
            self.amount = amount
            self.account = account
            self.payee = payee
        }
    }

    @Model final class Payee {
        @Attribute(.unique) var name: String
        var website: URL?
        @Relationship(inverse: \Payment.payee) var payments: [Payment] = []

        init(name: String) { self.name = name }
    }
}

enum BudgetPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [BudgetV1.self, BudgetV2.self, BudgetV3.self]
    }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: BudgetV1.self, toVersion: BudgetV2.self, willMigrate: nil,
                didMigrate: { context in
                    var payees: [String: BudgetV2.Payee] = [:]
                    for payment in try context.fetch(FetchDescriptor<BudgetV2.Payment>()) {
                        let name = payment.payeeName.trimmingCharacters(in: .whitespaces)
                        let payee = payees[name] ?? BudgetV2.Payee(name: name)
                        payees[name] = payee
                        payment.payee = payee
                    }
                    try context.save()
                }),
            .lightweight(fromVersion: BudgetV2.self, toVersion: BudgetV3.self),
        ]
    }
}

extension BudgetV3.Account {
    var balance: Decimal { payments.reduce(openingBalance) { $0 + $1.amount - $1.fee } }

    static func named(_ name: String, in context: ModelContext) throws -> BudgetV3.Account? {
        try context.fetch(
            FetchDescriptor<BudgetV3.Account>(predicate: #Predicate { $0.name == name })
        ).first
    }
}

extension BudgetV3.Payment {
    /// The payments of a calendar month, the largest expense first.
    static func month(
        _ month: Int, of year: Int, calendar: Calendar
    ) -> FetchDescriptor<BudgetV3.Payment> {
        let components = DateComponents(year: year, month: month)
        let start = calendar.date(from: components) ?? .distantPast
        let end = calendar.date(byAdding: .month, value: 1, to: start) ?? .distantFuture
        return FetchDescriptor(
            predicate: #Predicate { $0.date >= start && $0.date < end },
            sortBy: [SortDescriptor(\.amount), SortDescriptor(\.date)])
    }
}

@Suite("An app for budgets")
struct BudgetAppTests {
    private let store: AppStore
    private let payees = ["Baker ", "Baker", "Rail", "Cinema", " Rent"]

    /// The store of the first version: 3 accounts, 4 categories and 150 payments, one every day.
    init() throws {
        store = try AppStore()
        try store.launch(BudgetV1.self) { context in
            let accounts = [
                BudgetV1.Account(name: "Purse", kind: .cash, opening: 20),
                BudgetV1.Account(name: "Bank", kind: .checking, opening: 1_000.5),
                BudgetV1.Account(name: "Card", kind: .card, opening: 0),
            ]
            let categories = (0..<4).map { number in
                BudgetV1.Category(
                    name: "Category \(number)",
                    limit: number == 0 ? BudgetLimit(amount: Decimal(string: "99.99")!) : nil)
            }
            categories.forEach(context.insert)
            accounts.forEach(context.insert)
            for number in 0..<150 {
                let payment = BudgetV1.Payment(
                    date: AppStore.day(number, hour: 12), amount: amount(number),
                    payeeName: payees[number % 5], account: accounts[number % 3])
                payment.note = number % 4 == 0 ? "note \(number)" : nil
                payment.category = number % 10 == 9 ? nil : categories[number % 4]
                context.insert(payment)
            }
            try context.save()
            #expect(accounts[0].payments.count == 50)
        }
    }

    private func amount(_ number: Int) -> Decimal { -Decimal(number) / 100 - 1 }

    @Test("the payments of a budget keep their money and get payees in two stages")
    func stages() throws {
        try store.launch(BudgetV3.self, BudgetPlan.self) { context in
            let payments = try context.fetch(
                FetchDescriptor<BudgetV3.Payment>(sortBy: [SortDescriptor(\.date)]))
            #expect(payments.map(\.amount) == (0..<150).map(amount))
            #expect(Set(payments.map(\.uuid)).count == 150)
            for (number, payment) in payments.enumerated() {
                let payee = payees[number % 5].trimmingCharacters(in: .whitespaces)
                #expect(payment.payee?.name == payee)
                #expect(payment.fee == Decimal(string: "0.25"))
                #expect(payment.note == (number % 4 == 0 ? "note \(number)" : nil))
                #expect(payment.account.name == ["Purse", "Bank", "Card"][number % 3])
                #expect(
                    payment.category?.name == (number % 10 == 9 ? nil : "Category \(number % 4)"))
            }
            let payees = try context.fetch(
                FetchDescriptor<BudgetV3.Payee>(sortBy: [SortDescriptor(\.name)]))
            #expect(payees.map(\.name) == ["Baker", "Cinema", "Rail", "Rent"])
            #expect(payees.map(\.payments.count) == [60, 30, 30, 30])
            let purse = try #require(try BudgetV3.Account.named("Purse", in: context))
            #expect(purse.kind == .cash && purse.monthlyFee == 4.95)
            // 20, less 50 payments of 1 to 2.47 with a fee of 0.25 each.
            #expect(purse.balance == Decimal(string: "-79.25"))
            let limits = try context.fetch(FetchDescriptor<BudgetV3.Category>()).map(\.limit)
            #expect(limits.compactMap(\.?.amount) == [Decimal(string: "99.99")])
        }
        try store.expectCurrent(BudgetV3.self, BudgetPlan.self)
    }

    @Test("the categories of a budget cannot be deleted while they have payments")
    func rules() throws {
        try store.launch(BudgetV3.self, BudgetPlan.self) { context in
            let categories = try context.fetch(FetchDescriptor<BudgetV3.Category>())
            context.delete(categories[0])
            #expect(throws: (any Error).self) { try context.save() }
            context.rollback()
            #expect(try context.fetchCount(FetchDescriptor<BudgetV3.Category>()) == 4)
            for payment in categories[0].payments { payment.category = nil }
            context.delete(categories[0])
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<BudgetV3.Category>()) == 3)
            context.insert(
                BudgetV3.Account(name: "Bank", kind: .checking, openingBalance: 7))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<BudgetV3.Account>()) == 3)
            let bank = try #require(try BudgetV3.Account.named("Bank", in: context))
            #expect(bank.openingBalance == 7 && bank.payments.count == 50)
            context.delete(bank)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<BudgetV3.Payment>()) == 100)
        }
        try store.expectCurrent(BudgetV3.self, BudgetPlan.self)
    }

    @Test("the budget sums the payments of a month, a payee and a category")
    func queries() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        try store.launch(BudgetV3.self, BudgetPlan.self) { context in
            let march = try context.fetch(
                BudgetV3.Payment.month(3, of: 2024, calendar: calendar))
            #expect(march.count == 31)
            #expect(march.first?.amount == amount(30))
            let april = BudgetV3.Payment.month(4, of: 2024, calendar: calendar)
            #expect(try context.fetchCount(april) == 30)
            let (low, high): (Decimal, Decimal) = (-1.5, -1.25)
            let range = #Predicate<BudgetV3.Payment> { (low...high).contains($0.amount) }
            #expect(try context.fetchCount(FetchDescriptor(predicate: range)) == 26)
            let atBaker = #Predicate<BudgetV3.Payment> { payment in
                payment.payee?.name == "Baker" && payment.account.name == "Bank"
                    && (payment.category?.name ?? "none") == "none"
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: atBaker)) == 0)
            let none = #Predicate<BudgetV3.Payment> { payment in
                (payment.category?.name ?? "none") == "none" && payment.payee?.name == "Rent"
            }
            let rents = try context.fetch(
                FetchDescriptor(
                    predicate: none,
                    sortBy: [
                        SortDescriptor(\.account.name), SortDescriptor(\.date, order: .reverse),
                    ]))
            #expect(rents.count == 15)
            #expect(rents.first?.account.name == "Bank")
            #expect(rents.first?.date == AppStore.day(139, hour: 12))
            let cash = BudgetAccountKind.cash
            let inCash = #Predicate<BudgetV3.Account> { $0.kind == cash }
            #expect(try context.fetch(FetchDescriptor(predicate: inCash)).map(\.name) == ["Purse"])
            let limit: Decimal = 50
            let limited = #Predicate<BudgetV3.Category> { ($0.limit?.amount ?? 0) > limit }
            #expect(try context.fetchCount(FetchDescriptor(predicate: limited)) == 1)
        }
    }

    @Test("a payment of a budget that is undone leaves the balance unchanged")
    func undo() throws {
        try store.launch(BudgetV3.self, BudgetPlan.self) { context in
            context.undoManager = UndoManager()
            let card = try #require(try BudgetV3.Account.named("Card", in: context))
            let balance = card.balance
            let payment = BudgetV3.Payment(date: AppStore.day(200), amount: -5, account: card)
            context.insert(payment)
            context.processPendingChanges()
            card.openingBalance = 100
            context.processPendingChanges()
            #expect(card.balance == balance + 94.75)
            context.undoManager?.undo()
            context.undoManager?.undo()
            #expect(card.balance == balance && card.payments.count == 50)
            context.undoManager?.redo()
            #expect(card.payments.count == 51)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<BudgetV3.Payment>()) == 151)
        }
    }
}
