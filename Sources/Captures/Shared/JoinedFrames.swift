import Core

/// The canonical frames of a session: the rows in time order, and between them the pictures without
/// a row.
struct JoinedFrames {
  private(set) var frames: [CaptureFrame] = []
  /// Row of frame i; `nil` for a picture without row.
  private(set) var rowOfFrame: [Int?] = []
  /// Frame of picture k.
  private(set) var frameOfPicture: [Int] = []
  private(set) var picturesWithoutRow = 0
  private(set) var rowsWithoutPicture = 0

  /// Frames of a video's pictures alone, at their presentation times in nanoseconds.
  init(pictures: [Int64]) {
    for time in pictures { append(row: nil, Timestamp(nanoseconds: time), hasPicture: true) }
  }

  /// Frames of rows, some of which have a picture; then pictures without row and time.
  init(rows: [Timestamp], hasPicture: (Int) -> Bool, untimedPictures: Int = 0) {
    for (row, time) in rows.enumerated() {
      append(row: row, time, hasPicture: hasPicture(row))
    }
    for _ in 0..<max(0, untimedPictures) { append(row: nil, nil, hasPicture: true) }
  }

  /// Frames of paired rows and pictures. A picture without row is inserted between its neighbors by
  /// its own time.
  init(rows: [Timestamp], pictures: [Int64], match: StreamMatch) {
    let start = match.constant.map(Timestamp.init(nanoseconds:)) ?? rows.first
    var nextRow = 0
    var waiting: [Timestamp] = []
    for (picture, row) in match.rows.enumerated() {
      guard let row else {
        waiting.append(
          (start ?? Timestamp(nanoseconds: 0)).advanced(byNanoseconds: pictures[picture]))
        continue
      }
      append(rows, from: &nextRow, upTo: row, with: &waiting)
      append(row: row, rows[row], hasPicture: true)
      nextRow = row + 1
    }
    append(rows, from: &nextRow, upTo: rows.count, with: &waiting)
  }

  /// `frameOfPicture`, or `nil` if picture k is frame k.
  var frameOfPictureUnlessPlain: [Int]? {
    frameOfPicture.elementsEqual(frameOfPicture.indices) ? nil : frameOfPicture
  }

  /// Appends rows without picture and pictures without row between two pairs, by time.
  private mutating func append(
    _ rows: [Timestamp], from nextRow: inout Int, upTo end: Int, with waiting: inout [Timestamp]
  ) {
    for time in waiting {
      while nextRow < end, rows[nextRow] <= time {
        append(row: nextRow, rows[nextRow], hasPicture: false)
        nextRow += 1
      }
      append(row: nil, time, hasPicture: true)
    }
    waiting = []
    while nextRow < end {
      append(row: nextRow, rows[nextRow], hasPicture: false)
      nextRow += 1
    }
  }

  private mutating func append(row: Int?, _ time: Timestamp?, hasPicture: Bool) {
    if hasPicture { frameOfPicture.append(frames.count) } else { rowsWithoutPicture += 1 }
    if row == nil { picturesWithoutRow += 1 }
    frames.append(CaptureFrame(timestamp: time, colorTimestamp: hasPicture ? time : nil))
    rowOfFrame.append(row)
  }
}
