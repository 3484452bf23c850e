import Media
import Core
import SystemPackage

/// A comparison of a peer's pictures, or of its rows of inertial samples, with this program's: times and sizes are
/// comparable only if the work is the same.
struct PictureCheck: Hashable, Codable {
  /// The name in tables, with the stage where several are compared.
  var name: String
  var pictures: Int
  var ourPictures: Int
  /// Number of pictures that were compared pixel by pixel: the first, the middle and the last one.
  var comparedPictures: Int
  /// Fraction of the values (three per pixel) that differ; `nil` when pictures could not be
  /// compared.
  var differingShare: Double?
  /// Largest difference of a value: 0…255 in color, millimeters in depth.
  var largestDifference: Int?

  /// A phrase that follows the name.
  var words: String {
    var text = pictures == ourPictures ? "as many as ours (\(pictures))" : count
    switch (differingShare, largestDifference) {
    case (0?, _): text += "; pixels are the same"
    case (let share?, let most?):
      text +=
        "; pixels differ: \(shortText(100 * share)) % of the values, by at most \(most)"
    default: text += "; contents were not compared"
    }
    return text
  }

  private var count: String {
    "\(pictures), ours are \(ourPictures): times and sizes are not of the same work"
  }
}

/// Some pictures of a stage of this program's run, kept for the comparison with peers.
struct KeptPictures {
  private let folder: FilePath
  private let names: [String]
  private let count: Int

  /// Copies the first, the middle and the last picture of an export before it is removed.
  init(of export: FilePath, to folder: FilePath) throws {
    self.folder = folder
    let all = try Self.pictures(in: export)
    count = try Self.count(in: export)
    names = Set([0, all.count / 2, all.count - 1].filter(all.indices.contains)).sorted().map {
      all[$0]
    }
    try FileSystem.makeFolder(folder)
    for name in names {
      let bytes = try MappedFile(export.appending(name)).withBytes {
        $0.withUnsafeBytes { Array($0) }
      }
      try OutputFile.write(bytes, to: folder.appending(name))
    }
  }

  /// - Parameter output: the peer's folder, with the same file names.
  func check(_ name: String, in output: FilePath) throws -> PictureCheck {
    var check = PictureCheck(
      name: name, pictures: try Self.count(in: output), ourPictures: count, comparedPictures: 0)
    var values = 0
    var differing = 0
    var most = 0
    for file in names {
      guard let ours = Self.picture(folder.appending(file)),
        let theirs = Self.picture(output.appending(file)),
        ours.width == theirs.width, ours.values.count == theirs.values.count
      else { continue }
      check.comparedPictures += 1
      values += ours.values.count
      for (a, b) in zip(ours.values, theirs.values) where a != b {
        differing += 1
        most = max(most, abs(Int(a) - Int(b)))
      }
    }
    if values > 0 {
      check.differingShare = Double(differing) / Double(values)
      check.largestDifference = most
    }
    return check
  }

  /// Values of a PNG file, 16-bit gray or color; `nil` for any other file.
  private static func picture(_ file: FilePath) -> (width: Int, values: [UInt16])? {
    if let depth = try? PNGReader.depth(at: file) { return (depth.width, depth.millimeters) }
    return (try? PNGReader.color(at: file)).map { ($0.width, $0.rgb.map(UInt16.init)) }
  }

  private static func pictures(in folder: FilePath) throws -> [String] {
    try FileSystem.names(in: folder).filter { $0.hasSuffix(".png") || $0.hasSuffix(".jpg") }
  }

  /// Pictures, or rows of inertial samples.
  private static func count(in folder: FilePath) throws -> Int {
    let table = folder.appending("frame_imu.csv")
    guard FileSystem.exists(table) else { return try pictures(in: folder).count }
    return try MappedFile(table).withBytes { bytes in
      bytes.withUnsafeBytes { $0.count { $0 == UInt8(ascii: "\n") } - 1 }
    }
  }
}
