import Captures

/// Pairs rows with pictures: row k is picture k.
struct ToyFrames {
  let frames: [CaptureFrame]

  init(_ files: ToyFiles, _ tables: ToyTables) {
    frames = (0..<max(files.pictures.count, tables.frames.count)).map { index in
      let time = index < tables.frames.count ? tables.frames[index].time : nil
      return CaptureFrame(timestamp: time, colorTimestamp: time, depthTimestamp: time)
    }
  }
}
