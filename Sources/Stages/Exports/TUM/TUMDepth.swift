import Media
import Core
import Engine

/// Depth pictures of `export-tum`: named by their own times, in 1/5000 m.
struct TUMDepth: Sendable {
  struct Row: Sendable {
    /// Index of the color picture among the exported frames.
    let position: Int
    let frame: Int
    let stamp: String
    var name: String { "depth/\(stamp).png" }
  }

  let rows: [Row]
  /// Number of depth pictures left out because an earlier one has the same time, and so the same
  /// name.
  let sameNames: Int
  private let pictures: ExportPictures?

  init(_ source: ExportSource, _ frames: [Int]) {
    pictures = source.depth
    var rows: [Row] = []
    var stamps: Set<String> = []
    var sameNames = 0
    for (position, frame) in frames.enumerated() where source.depth?.has(frame) == true {
      guard let stamp = source.depthTime(frame).map(TimeText.decimalSeconds) else { continue }
      guard stamps.insert(stamp).inserted else {
        sameNames += 1
        continue
      }
      rows.append(Row(position: position, frame: frame, stamp: stamp))
    }
    self.rows = rows
    self.sameNames = sameNames
  }

  var hasPictures: Bool { !rows.isEmpty }

  /// Writes on all cores; at most one picture per core is in memory.
  func writePictures(_ folder: ExportFolder) throws {
    guard let pictures else { return }
    try folder.encode(Array(rows.indices)) { (index: Int, scratch: inout Scratch) in
      let picture = try pictures.depth(rows[index].frame)
      let count = picture.millimeters.count
      if scratch.values.count != count { scratch.values = [UInt16](repeating: 0, count: count) }
      for pixel in 0..<count {
        scratch.values[pixel] = DepthUnits.tum(fromMillimeters: picture.millimeters[pixel])
      }
      try scratch.writer.encode(
        gray16: scratch.values, width: picture.width, height: picture.height, into: &scratch.file)
      try folder.context.staging.write(scratch.file, as: rows[index].name)
    } makeScratch: {
      Scratch(CommonParameters.compression(folder.context.parameters))
    }
  }

  private struct Scratch: ~Copyable {
    var writer: PNGWriter
    var values: [UInt16] = []
    var file: [UInt8] = []

    init(_ compression: PNGCompression) {
      writer = PNGWriter(compression: compression)
    }
  }
}
