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
