import Media
import Core

/// `calibration.json`: one camera, and its transform to the IMU.
struct SpectacularCalibration {
  /// `nil` if unknown, in which case it is not written.
  var camera: PinholeCamera?
  var lens: LensDistortion?
  /// Size of the pictures.
  var width: Int
  var height: Int
  var cameraFromIMU: RigidTransform

  var text: [UInt8] {
    var json = JSONStream()
    json.beginObject(lines: true)
    json.key("cameras")
    json.beginArray()
    json.beginObject(lines: true)
    if let camera {
      for (name, value) in [
        ("focalLengthX", camera.fx), ("focalLengthY", camera.fy), ("principalPointX", camera.cx),
        ("principalPointY", camera.cy),
      ] {
        json.key(name)
        json.value(value)
      }
    }
    json.key("imageWidth")
    json.value(width)
    json.key("imageHeight")
    json.value(height)
    json.key("model")
    json.value(lens == nil ? "pinhole" : "brown-conrady")
    if let lens {
      json.key("distortionCoefficients")
      json.value(lens.openCVOrder)
    }
    json.key("imuToCamera")
    json.value(cameraFromIMU.rowMajor, rowsOf: 4)
    json.end()
    json.end()
    json.end()
    json.endLine()
    return json.drain { $0 }
  }
}
