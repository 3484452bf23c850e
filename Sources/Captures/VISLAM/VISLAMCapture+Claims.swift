import Media

extension VISLAMCapture {
  /// Adds claims about stream lengths: rows and pictures for each other; for the pictures also the
  /// video's index and the side file of the Android recorder.
  func claim(_ capture: inout Capture, _ joined: VISLAMFrames) {
    let pictures = capture.color.value?.description.frames
    let rows = joined.rows.count
    if let pictures, rows > 0 {
      capture.claims.add(
        "color", held: rows - joined.frames.rowsWithoutPicture, declared: rows,
        by: "the rows of \(VISLAMFiles.frameFile)")
      capture.claims.add(
        "cameraSettings", held: pictures - joined.frames.picturesWithoutRow, declared: pictures,
        unit: "rows are there", by: "the pictures")
    }
    capture.claims.add(
      "color", held: pictures, declared: capture.color.value?.description.declaredFrames,
      by: VISLAMFiles.metadataFile)
    if case .video(let video) = joined.pictures {
      capture.claims.add(
        "color", held: pictures, declared: video.track.listedPictures, by: "the index of the video")
    }
  }
}
