import Media
import SystemPackage

extension StrayScannerCapture {
  /// The files from which each part was read. Which frame a picture of the video is also follows
  /// from the rows.
  var filesOfParts: [CapturePart: [FilePath]] {
    let files = tables.files
    let video = files.existing([StrayScannerFiles.videoName])
    let rows = files.existing([StrayScannerFiles.odometryName])
    let matrix = files.existing([StrayScannerFiles.matrixName])
    let parts: [CapturePart: [FilePath]] = [
      .color: video.isEmpty ? [] : video + rows,
      .depth: tables.depth.value?.paths ?? [],
      .confidence: tables.confidence.value?.paths ?? [],
      .imu: files.existing([StrayScannerFiles.motionName]),
      .frames: rows + video,
      .poses: rows,
      .intrinsics: rows + matrix + video,
      .calibration: rows + matrix + video,
    ]
    return parts.filter { !$0.value.isEmpty }
  }

  /// The app writes the camera matrix when the user stops the recording, and the video's index
  /// then.
  var completeness: UploadCompleteness {
    var missing: [String] = []
    var absent: [String] = []
    for name in [
      StrayScannerFiles.videoName, StrayScannerFiles.odometryName, StrayScannerFiles.motionName,
      StrayScannerFiles.matrixName,
    ] where !tables.files.contains(name) {
      if name == StrayScannerFiles.motionName, !tables.generation.writesMotion { continue }
      absent.append(name)
    }
    if case .absent = tables.depth { absent.append(StrayScannerFiles.depthName + "/") }
    if case .absent = tables.confidence, tables.generation.writesConfidence {
      absent.append(StrayScannerFiles.confidenceName + "/")
    }
    missing += absent.map { "\($0) is not there." }
    if let error = tables.color.error {
      missing.append("The video is not finished: \(error.problem).")
    }
    if tables.color.value?.endsEarly == true {
      missing.append("The video ends before its own index says.")
    }
    if tables.isOdometryCut {
      missing.append("\(StrayScannerFiles.odometryName) ends inside a line.")
    }
    if tables.isMotionCut { missing.append("\(StrayScannerFiles.motionName) ends inside a line.") }
    return UploadCompleteness(missing: missing, absentFiles: absent)
  }

  /// Adds claims about stream lengths: streams and rows correspond by number.
  func claim(_ capture: inout Capture) {
    let color = tables.color.value
    capture.claims.add(
      "color", held: color?.pictureCount, declared: color?.track.listedPictures,
      by: "the index of the video")
    let rows = tables.odometry.value?.rows.count
    let (depth, confidence) = (tables.depth.value, tables.confidence.value)
    capture.claims.addNumbered([
      ("poses", rows, rows, "the rows"),
      ("depth", depth?.fileCount, depth?.numberCount, "the depth files"),
      ("confidence", confidence?.fileCount, confidence?.numberCount, "the confidence files"),
      (
        "color", color?.pictureCount, frames.frameOfPicture.last.map { $0 + 1 } ?? 0, "the pictures"
      ),
    ])
  }
}
