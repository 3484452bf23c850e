import Captures
import Media
import Core
import Engine
import Processing
import Synchronization
import SystemPackage

/// Writes stills like frames of a video: upright, 8-bit RGB.
struct StillExport {
  let publisher: PicturePublisher
  let color: ColorStream
  let files: [FilePath]
  let selection: FrameSelection

  /// A picture, upright, or why there is none.
  static func decode(_ file: FilePath) -> StillPicking.Decoded {
    do throws(ImageError) {
      return (try StillImage.read(file).upright, nil)
    } catch {
      return (nil, FrameIssue(code: .corruptRecord, message: "\(error)"))
    }
  }

  func run() throws -> StageResult {
    let wanted = files.indices.map { (file: files[$0], frame: color.frame(ofPicture: $0)) }
      .filter { selection.contains($0.frame) }
    let context = publisher.context
    let written = Atomic<Int>(0)
    let unreadable = Mutex<[String]>([])
    context.progress.expect(wanted.count)
    _ = try concurrentMap(count: wanted.count, budget: context.budget) { index in
      try context.cancellation.check()
      defer { context.progress.advance() }
      do {
        try publisher.publish(
          wanted[index].frame, StillImage.read(wanted[index].file).upright)
        written.add(1, ordering: .relaxed)
      } catch let error as ImageError {
        unreadable.withLock { $0.append("\(error)") }
      }
    }
    let count = written.load(ordering: .relaxed)
    let failures = unreadable.withLock { $0.sorted() }
    if let first = failures.first {
      // A single lost picture is a hole; without any picture the stream is unreadable.
      if count == 0 { throw UnreadableStream(description: first) }
      context.warnings.add(.corruptRecord, "color", count: failures.count, first)
    }
    guard count + failures.count == wanted.count else {
      throw InternalError(
        "\(count) stills written, but \(wanted.count) wanted and \(failures.count) unreadable")
    }
    var result = StageResult(frames: count)
    result.record(FrameHoles(lost: failures.count, frames: wanted.count), in: "color")
    return result
  }
}

/// A stream of which nothing can be read, or which contradicts itself.
struct UnreadableStream: ContentError, CustomStringConvertible {
  var description: String
  var contentFile: FilePath? { nil }
}

extension AlignmentError: ContentError {
  public var contentFile: FilePath? { nil }
}
