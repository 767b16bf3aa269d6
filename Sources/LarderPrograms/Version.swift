/// The version that `larder --version` and `larderd --version` print.
package enum Version {
    package static let current = "0.1.0"
}
