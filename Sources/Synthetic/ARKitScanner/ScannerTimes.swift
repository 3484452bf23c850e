import Core

/// The times of an ARKit-Scanner capture's frames, and the text of their keys.
extension Synthesis<ARKitScannerFamily> {
  /// True time of a frame in seconds of device uptime, finer than nanoseconds.
  func uptimeSeconds(_ frame: Int) -> Double {
    Double(clock.nanoseconds(of: plan.damage.cameraFrame(frame))) / 1e9 + 0.37e-9
  }

  /// Time of a frame in the scene, seconds.
  func worldSeconds(_ frame: Int) -> Double { worldSeconds(ofUptime: uptimeSeconds(frame)) }

  func key(_ frame: Int) -> String {
    switch plan.generation.keys {
    case .times, .fileNames: "\(uptimeSeconds(frame))"
    case .numbers: "\(frame)"
    case .released: "frame_\(Decimals.padded(frame, 6))"
    }
  }

  /// The time that a reader computes from a frame's key, nanoseconds.
  func recorded(_ frame: Int) -> Int64? {
    switch plan.generation.keys {
    case .numbers:
      Int64((Double(frame) * 1e9 / 60).rounded(.toNearestOrAwayFromZero))
    default: Timestamp(decimalSeconds: "\(uptimeSeconds(frame))")?.nanoseconds
    }
  }

  /// The motion samples that the app stored: the latest before each frame, without duplicates; none
  /// for the first two frames (except in the release). Keyed by the sample's own time, or by the
  /// frame's number.
  var motionTimes: [(key: String, uptime: Double, nanoseconds: Int64?)] {
    guard plan.hasMotion else { return [] }
    var samples: [(key: String, uptime: Double, nanoseconds: Int64?)] = []
    let first = plan.generation.keys == .released ? 0 : 2
    for frame in first..<max(first, plan.frames) {
      // Motion is sampled at 100 Hz and delivered some milliseconds late.
      let uptime = ((uptimeSeconds(frame) - 0.004) * 100).rounded(.down) / 100
      switch plan.generation.keys {
      case .numbers: samples.append(("\(frame)", uptime, recorded(frame)))
      case .released: samples.append((key(frame), uptime, recorded(frame)))
      case .times, .fileNames:
        let text = "\(uptime)"
        guard samples.last?.key != text else { continue }
        samples.append((text, uptime, Timestamp(decimalSeconds: text)?.nanoseconds))
      }
    }
    return samples
  }
}
