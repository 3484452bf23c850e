import FoundationEssentials

/// Property lists of numbers in Foundation's format.
enum PropertyList {
  static func bytes(_ values: [Double]) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return Array(try encoder.encode(values))
  }
}
