import Core

/// The canonical frames: the times of all files, in their order. A file's name is its time.
struct PolycamFrames {
  let frames: [CaptureFrame]

  init(_ tables: PolycamTables) {
    let color = Set(tables.files[.color].files.map(\.number))
    frames = tables.files.times.enumerated().map { index, time in
      CaptureFrame(
        timestamp: time, colorTimestamp: color.contains(index) ? time : nil,
        depthTimestamp: tables.depth.hasFile(index) ? time : nil)
    }
  }
}
