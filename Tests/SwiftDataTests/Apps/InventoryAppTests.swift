import Foundation
import SwiftData
import Testing

// An inventory. The second version moves the quantity of a product into stock records, one for each
// warehouse, and merges products with the same number; the third one removes the old attributes and
// protects suppliers.

struct InventorySize: Codable, Hashable {
    var width: Double
    var height: Double
    var depth: Double

    var volume: Double { width * height * depth }
}

enum InventoryCondition: String, Codable { case new, used, broken }

enum InventoryV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Product.self, Supplier.self] }

    @Model final class Product {
        var number: String
        var name: String
        var price: Decimal
        var quantity: Int
        var warehouse: String
        var size: InventorySize?
        var barcode: Data?
        var supplier: Supplier?

        init(number: String, name: String, price: Decimal, quantity: Int, warehouse: String) {
            self.number = number
            self.name = name
            self.price = price
            self.quantity = quantity
            self.warehouse = warehouse
        }
    }

    @Model final class Supplier {
        var name: String
        @Relationship(inverse: \Product.supplier) var products: [Product] = []

        init(name: String) { self.name = name }
    }
}

enum InventoryV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Product.self, Supplier.self, Stock.self]
    }

    @Model final class Product {
        var number: String
        var name: String
        var price: Decimal
        var quantity: Int
        var warehouse: String
        var size: InventorySize?
        var barcode: Data?
        var supplier: Supplier?
        @Relationship(deleteRule: .cascade, inverse: \Stock.product) var stocks: [Stock] = []

        init(number: String, name: String, price: Decimal, quantity: Int, warehouse: String) {
            self.number = number
            self.name = name
            self.price = price
            self.quantity = quantity
            self.warehouse = warehouse
        }
    }

    @Model final class Supplier {
        var name: String
        @Relationship(inverse: \Product.supplier) var products: [Product] = []

        init(name: String) { self.name = name }
    }

    @Model final class Stock {
        var warehouse: String
        var quantity: Int
        var product: Product?

        init(warehouse: String, quantity: Int) {
            self.warehouse = warehouse
            self.quantity = quantity
        }
    }
}

enum InventoryV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] {
        [Product.self, Supplier.self, Stock.self, Movement.self]
    }

    @Model final class Product {
        #Unique<Product>([\.number])
        #Index<Product>([\.name])

        var number: String
        var name: String
        @Attribute(originalName: "price") var unitPrice: Decimal
        var taxRate: Decimal = 0.19
        var minimum: Int? = 5
        var condition: InventoryCondition = InventoryCondition.new
        var size: InventorySize?
        var barcode: Data?
        var supplier: Supplier?
        @Relationship(deleteRule: .cascade, inverse: \Stock.product) var stocks: [Stock] = []
        @Transient var isSelected: Bool = false

        init(number: String, name: String, unitPrice: Decimal) {
            self.number = number
            self.name = name
            self.unitPrice = unitPrice
        }

        var total: Int { stocks.reduce(0) { $0 + $1.quantity } }
        var grossPrice: Decimal { unitPrice * (1 + taxRate) }
    }

    @Model final class Supplier {
        @Attribute(.unique) var name: String
        @Relationship(deleteRule: .deny, inverse: \Product.supplier) var products: [Product] = []

        init(name: String) { self.name = name }
    }

    @Model final class Stock {
        #Unique<Stock>([\.warehouse, \.productNumber])

        var warehouse: String
        var quantity: Int
        var productNumber: String?
        var product: Product?
        @Relationship(deleteRule: .cascade, inverse: \Movement.stock) var movements: [Movement]

        init(warehouse: String, product: Product) {
            self.warehouse = warehouse
            self.quantity = 0
            productNumber = product.number
            self.product = product
            movements = []
        }

        func move(_ count: Int, at date: Date = .now) {
            quantity += count
            movements.append(Movement(count: count, date: date))
        }
    }

    @Model final class Movement {
        var count: Int
        var date: Date
        var stock: Stock?

        init(count: Int, date: Date) {
            self.count = count
            self.date = date
        }
    }
}

enum InventoryPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] {
        [InventoryV1.self, InventoryV2.self, InventoryV3.self]
    }
    static var stages: [MigrationStage] { [addStocks, protectSuppliers] }

    static let addStocks = MigrationStage.custom(
        fromVersion: InventoryV1.self, toVersion: InventoryV2.self, willMigrate: nil,
        didMigrate: { context in
            var originals: [String: InventoryV2.Product] = [:]
            let products = FetchDescriptor<InventoryV2.Product>(
                sortBy: [SortDescriptor(\.price), SortDescriptor(\.name)])
            for product in try context.fetch(products) {
                let original = originals[product.number, default: product]
                originals[product.number] = original
                if let stock = original.stocks.first(where: { $0.warehouse == product.warehouse }) {
                    stock.quantity += product.quantity
                } else {
                    original.stocks.append(
                        InventoryV2.Stock(warehouse: product.warehouse, quantity: product.quantity))
                }
                if original !== product { context.delete(product) }
            }
            try context.save()
        })

    static let protectSuppliers = MigrationStage.custom(
        fromVersion: InventoryV2.self, toVersion: InventoryV3.self,
        willMigrate: { context in
            // Suppliers without products may be duplicates of others.
            try context.delete(
                model: InventoryV2.Supplier.self, where: #Predicate { $0.products.isEmpty })
            try context.save()
        },
        didMigrate: { context in
            for stock in try context.fetch(FetchDescriptor<InventoryV3.Stock>()) {
                stock.productNumber = stock.product?.number
            }
            try context.save()
        })
}

extension InventoryV3.Product {
    /// The products of which a warehouse has few.
    static func scarce(in warehouse: String) -> FetchDescriptor<InventoryV3.Product> {
        FetchDescriptor(
            predicate: #Predicate { product in
                product.stocks.contains {
                    $0.warehouse == warehouse && $0.quantity < (product.minimum ?? 0)
                }
            },
            sortBy: [SortDescriptor(\.supplier?.name), SortDescriptor(\.number)])
    }
}

@Suite("An app for inventories")
struct InventoryAppTests {
    private let store: AppStore

    /// The store of the first version: 90 records of 40 products in 3 warehouses, 4 suppliers, and
    /// a second record of a supplier without products.
    init() throws {
        store = try AppStore()
        try store.launch(InventoryV1.self) { context in
            let suppliers = (0..<4).map { InventoryV1.Supplier(name: "Supplier \($0)") }
            suppliers.forEach(context.insert)
            context.insert(InventoryV1.Supplier(name: "Supplier 0"))
            for number in 0..<90 {
                let product = InventoryV1.Product(
                    number: "P-\(100 + number % 40)", name: "Product \(number)",
                    price: Decimal(number) + Decimal(string: "0.99")!, quantity: number,
                    warehouse: ["North", "South", "East"][number / 40])
                product.supplier = number % 40 == 39 ? nil : suppliers[number % 4]
                product.size =
                    number % 2 == 0 ? InventorySize(width: 1, height: 2, depth: 0.5) : nil
                product.barcode = number % 3 == 0 ? Data("\(number)".utf8) : nil
                context.insert(product)
            }
            // A second record of one product in the same warehouse.
            context.insert(
                InventoryV1.Product(
                    number: "P-100", name: "Extra", price: 99, quantity: 1_000, warehouse: "North"))
            try context.save()
        }
    }

    @Test("the products of an inventory are merged, and their quantities are kept as stocks")
    func merging() throws {
        try store.launch(InventoryV3.self, InventoryPlan.self) { context in
            let products = try context.fetch(
                FetchDescriptor<InventoryV3.Product>(sortBy: [SortDescriptor(\.number)]))
            #expect(products.count == 40)
            for (number, product) in products.enumerated() {
                #expect(product.number == "P-\(100 + number)")
                #expect(product.name == "Product \(number)")
                #expect(product.unitPrice == Decimal(number) + Decimal(string: "0.99")!)
                let (north, south) = (number + (number == 0 ? 1_000 : 0), number + 40)
                let east = number < 10 ? [number + 80] : []
                #expect(
                    product.stocks.map(\.quantity).sorted() == ([north, south] + east).sorted())
                #expect(product.stocks.allSatisfy { $0.productNumber == product.number })
                #expect(product.taxRate == 0.19 && product.minimum == 5)
                #expect(product.condition == .new && !product.isSelected)
                #expect(product.size?.volume == (number % 2 == 0 ? 1 : nil))
                #expect(product.barcode == (number % 3 == 0 ? Data("\(number)".utf8) : nil))
                #expect(product.supplier?.name == (number == 39 ? nil : "Supplier \(number % 4)"))
            }
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Supplier>()) == 4)
            #expect(products[1].grossPrice == products[1].unitPrice * Decimal(string: "1.19")!)
        }
        try store.expectCurrent(InventoryV3.self, InventoryPlan.self)
    }

    @Test("the stocks of an inventory are unique, and its suppliers are protected")
    func rules() throws {
        try store.launch(InventoryV3.self, InventoryPlan.self) { context in
            let number = "P-105"
            let product = try #require(
                try context.fetch(
                    FetchDescriptor<InventoryV3.Product>(
                        predicate: #Predicate { $0.number == number })
                ).first)
            let stock = InventoryV3.Stock(warehouse: "East", product: product)
            context.insert(stock)
            stock.move(12, at: AppStore.day(1))
            stock.move(-2, at: AppStore.day(2))
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Stock>()) == 90)
            #expect(product.stocks.count == 3 && product.total == 5 + 45 + 10)
            let supplier = try #require(product.supplier)
            context.delete(supplier)
            #expect(throws: SwiftDataError.self) { try context.save() }
            context.rollback()
            #expect(supplier.products.count == 10)
            supplier.products.removeAll()
            try context.save()
            context.delete(supplier)
            try context.save()
            #expect(product.supplier == nil)
            context.delete(product)
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Stock>()) == 87)
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Movement>()) == 0)
            context.insert(InventoryV3.Product(number: "P-100", name: "New", unitPrice: 3))
            try context.save()
            let names = FetchDescriptor<InventoryV3.Product>(
                predicate: #Predicate { $0.number == "P-100" })
            #expect(try context.fetch(names).map(\.name) == ["New"])
            #expect(try context.fetch(names).first?.stocks.count == 3)
        }
        try store.expectCurrent(InventoryV3.self, InventoryPlan.self)
    }

    @Test("the inventory finds scarce products and writes off broken ones")
    func queries() throws {
        try store.launch(InventoryV3.self, InventoryPlan.self) { context in
            let scarce = try context.fetch(InventoryV3.Product.scarce(in: "North"))
            #expect(scarce.map(\.number) == ["P-104", "P-101", "P-102", "P-103"])
            #expect(try context.fetchCount(InventoryV3.Product.scarce(in: "East")) == 0)
            let prices: ClosedRange<Decimal> = 10...20
            let cheap = #Predicate<InventoryV3.Product> { prices.contains($0.unitPrice) }
            #expect(try context.fetchCount(FetchDescriptor(predicate: cheap)) == 10)
            let small = #Predicate<InventoryV3.Product> { product in
                product.size?.depth == 0.5 && product.barcode == nil
            }
            #expect(try context.fetchCount(FetchDescriptor(predicate: small)) == 13)
            let numbers = ["P-101", "P-120", "none"]
            let listed = FetchDescriptor<InventoryV3.Product>(
                predicate: #Predicate { numbers.contains($0.number) })
            for product in try context.fetch(listed) { product.condition = .broken }
            let broken = InventoryCondition.broken
            try context.delete(
                model: InventoryV3.Product.self, where: #Predicate { $0.condition == broken })
            try context.save()
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Product>()) == 38)
            #expect(try context.fetchCount(FetchDescriptor<InventoryV3.Stock>()) == 85)
            let few = #Predicate<InventoryV3.Supplier> { $0.products.count < 10 }
            let suppliers = FetchDescriptor(predicate: few, sortBy: [SortDescriptor(\.name)])
            #expect(
                try context.fetch(suppliers).map(\.name)
                    == ["Supplier 0", "Supplier 1", "Supplier 3"])
            let stocks = try context.fetch(
                FetchDescriptor<InventoryV3.Stock>(
                    sortBy: [
                        SortDescriptor(\.product?.supplier?.name, order: .reverse),
                        SortDescriptor(\.quantity, order: .reverse),
                    ]))
            #expect(stocks.first?.product?.number == "P-107")
        }
    }
}
