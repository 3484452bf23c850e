/// One record of camera settings (white balance, exposure, sensitivity), which drift as indoors.
struct ScanNetCameraRecord {
  let values: [Float]

  init(frame: Int, exposureSeconds: Double) {
    let turn = Trigonometry.sine(Double(frame) * 0.05)
    values = [
      Float(Decimals.round(1.9 + 0.1 * turn, 2)), 1, Float(Decimals.round(2.1 - 0.1 * turn, 2)),
      Float(exposureSeconds > 0 ? exposureSeconds : 1.0 / 60), Float(200 + (frame * 7) % 60),
    ]
  }

  var json: JSONTree { JSONTree(values.map { Double($0) }) }
}
