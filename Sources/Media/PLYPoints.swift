/// The properties of the points of a binary PLY cloud, and its header.
///
/// `format binary_little_endian 1.0`; `x y z` as `float` or `double`; then, if the cloud has them,
/// `uchar red green blue`, `uchar confidence` and `int frame`. Records are packed without gaps.
public struct PLYLayout: Hashable, Sendable {
  /// Whether coordinates are doubles: beyond a kilometer a `float` is coarser than a tenth of a
  /// millimeter.
  public var hasDoubleCoordinates: Bool
  public var hasColor: Bool
  public var hasConfidence: Bool
  public var hasFrame: Bool
  /// Comments of the header, one per line; line breaks in them become blanks.
  var comments: [String]

  public init(
    hasDoubleCoordinates: Bool = false, hasColor: Bool = false, hasConfidence: Bool = false,
    hasFrame: Bool = false, comments: [String] = []
  ) {
    self.hasDoubleCoordinates = hasDoubleCoordinates
    self.hasColor = hasColor
    self.hasConfidence = hasConfidence
    self.hasFrame = hasFrame
    self.comments = comments
  }

  /// Size of one point in bytes.
  var recordBytes: Int {
    (hasDoubleCoordinates ? 24 : 12) + (hasColor ? 3 : 0) + (hasConfidence ? 1 : 0)
      + (hasFrame ? 4 : 0)
  }

  /// The header. It has the same length for every number of points, so that it can be rewritten
  /// after all points; a comment line pads it.
  public func header(points: Int) -> [UInt8] {
    let coordinate = hasDoubleCoordinates ? "double" : "float"
    let digits = String(points)
    let rule = String(repeating: "-", count: max(1, 20 - digits.count))
    var lines = ["ply", "format binary_little_endian 1.0", "comment \(rule)"]
    lines += comments.map { comment in
      "comment " + String(comment.map { $0.isNewline ? " " : $0 })
    }
    lines.append("element vertex \(digits)")
    lines += ["x", "y", "z"].map { "property \(coordinate) \($0)" }
    if hasColor { lines += ["red", "green", "blue"].map { "property uchar \($0)" } }
    if hasConfidence { lines.append("property uchar confidence") }
    if hasFrame { lines.append("property int frame") }
    lines.append("end_header")
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }
}

/// Packed points of a PLY cloud in a buffer that is reused from frame to frame.
public struct PLYPoints: Sendable {
  let layout: PLYLayout
  /// The records in the layout of the file.
  public private(set) var bytes: [UInt8] = []

  public init(_ layout: PLYLayout) {
    self.layout = layout
  }

  public var count: Int { bytes.count / layout.recordBytes }

  /// Removes all points, keeps the memory and reserves space for `count` points.
  public mutating func restart(reserving count: Int) {
    bytes.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(count * layout.recordBytes)
  }

  /// Appends a point without the properties that the layout lacks. Coordinates are rounded to the
  /// layout's precision. Cost: some nanoseconds.
  public mutating func append(
    x: Double, y: Double, z: Double, color: (red: UInt8, green: UInt8, blue: UInt8) = (0, 0, 0),
    confidence: UInt8 = 0, frame: Int = 0
  ) {
    let recordBytes = layout.recordBytes
    bytes.append(addingCapacity: recordBytes) { output in
      output.withUnsafeMutableBufferPointer { buffer, initializedCount in
        guard let start = buffer.baseAddress else { return }
        var at = UnsafeMutableRawPointer(start + initializedCount)
        initializedCount += recordBytes
        func put<Value: BitwiseCopyable>(_ value: Value) {
          at.storeBytes(of: value, as: Value.self)
          at += MemoryLayout<Value>.size
        }
        if layout.hasDoubleCoordinates {
          put(x.bitPattern.littleEndian)
          put(y.bitPattern.littleEndian)
          put(z.bitPattern.littleEndian)
        } else {
          put(Float(x).bitPattern.littleEndian)
          put(Float(y).bitPattern.littleEndian)
          put(Float(z).bitPattern.littleEndian)
        }
        if layout.hasColor {
          put(color.red)
          put(color.green)
          put(color.blue)
        }
        if layout.hasConfidence { put(confidence) }
        if layout.hasFrame { put(Int32(clamping: frame).littleEndian) }
      }
    }
  }
}
