import Core

/// The header of a `.sens` file, version 4.
struct SensHeader {
  enum Color: Int32 {
    case png = 1
    case jpeg = 2
  }

  var sensorName: String
  var cameras: RGBDCameras
  var color: Color
  var colorSize: (width: Int, height: Int)
  var depthSize: (width: Int, height: Int)
  var frames: Int

  /// 304 bytes and the name.
  var bytes: [UInt8] {
    let name = Array(sensorName.utf8)
    let identity = RigidTransform.identity.rowMajor
    var bytes: [UInt8] = []
    bytes.sens(UInt32(4))
    bytes.sens(UInt64(name.count))
    bytes += name
    bytes.sens(matrix: cameras.color.camera.rowMajor4x4)
    bytes.sens(matrix: identity)
    bytes.sens(matrix: cameras.depth.rowMajor4x4)
    bytes.sens(matrix: cameras.colorFromDepth.rowMajor)
    bytes.sens(color.rawValue)
    // zlib.
    bytes.sens(Int32(1))
    for side in [colorSize.width, colorSize.height, depthSize.width, depthSize.height] {
      bytes.sens(UInt32(clamping: side))
    }
    // Depth units per meter.
    bytes.sens(Float(1000))
    bytes.sens(UInt64(frames))
    return bytes
  }
}
