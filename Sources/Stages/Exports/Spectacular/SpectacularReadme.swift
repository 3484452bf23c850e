import Captures
import Core
import Engine
import Processing

/// `README.txt` of a Spectacular AI recording.
enum SpectacularReadme {
  static func text(
    _ source: ExportSource, _ log: SpectacularLog, _ video: String, _ median: CommonCamera?
  ) -> ExportReadme {
    var readme = ExportReadme("Recording for Spectacular AI")
    readme.contents = [
      "data.jsonl: samples of gyroscope (rad/s) and accelerometer (m/s²)"
        + (log.hasPoses ? ", pictures and poses" : " and pictures") + " in the order of time. "
        + "Picture n is picture n of \(video), counted from 0 in display order.",
      video == "data.mp4"
        ? "\(video): the capture's own coded pictures, not decoded and not encoded again."
        : "\(video): the pictures of color/ without loss (FFV1), since not all of them are here as they were "
          + "recorded.",
    ]
    readme.opening = [
      ("python3 -c \"import spectacularAI; spectacularAI.Replay('.').runReplay()\"", "Replay"),
      ("sai-cli diagnose . report.html", "A report on the data"),
    ]
    readme.conventions = [
      "Times are seconds; each is shifted by \(log.start?.nanoseconds ?? 0) nanoseconds, the smallest time of "
        + "the recording on its own clock. frames.csv has the times without the shift.",
      "Accelerometer: specific force along device axes (x right, y up, z out of the screen); at rest, face "
        + "up, z is +9.8.",
      "Camera axes: x right, y down, z forward; pixel centers at integers.",
    ]
    if log.hasPoses {
      readme.conventions.append(
        "groundTruth: camera to world, meters, \(source.worldWords).")
    }
    if let median {
      readme.conventions.append(
        "calibration.json: \(median.words); the largest deviation of any frame is "
          + "\(ExportReadme.rounded(median.largestDeviation)) pixels.")
    } else {
      readme.remarks.append(
        "No intrinsics are known: calibration.json is without focal length and principal point; give "
          + "export-spectacular.calibration, or add them by hand.")
    }
    if let sentence = TimeOffsetText.sentence(source.context) {
      readme.conventions.append(sentence)
    }
    if let hertz = InertialExport.nominalHertz(log.gyroscope.map(\.time)), hertz < 100 {
      readme.remarks.append(
        "The IMU has \(hertz) samples per second. Inertial odometry needs 100 or more; expect it to fail or "
          + "to drift.")
    }
    if let remark = TimeOffsetText.readoutRemark(source.context) { readme.remarks.append(remark) }
    if let remark = IMUCrop.remark(log.cropped, source.context.parameters) {
      readme.remarks.append(remark)
    }
    return readme
  }
}
