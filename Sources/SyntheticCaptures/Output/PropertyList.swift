import FoundationEssentials

/// Property lists of numbers as Foundation writes them.
enum PropertyList {
  static func bytes(_ values: [Double]) throws -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .xml
    return Array(try encoder.encode(values))
  }
}
