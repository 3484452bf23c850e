import Core
import Dispatch
import Media
import Synchronization
import SystemPackage

/// Writes a video with the encoder settings that all families share.
///
/// Pictures are encoded in order on a thread of their own while the next ones are rendered, or on the
/// caller's where none can be created. The bytes do not depend on that. At most `mostWaiting` pictures
/// wait, so that memory does not grow with their number. The thread ends with `finish`, or with this
/// object.
final class VideoSink {
  private let path: FilePath
  private let work: EncodingWork
  private let hasThread: Bool
  private var isOver = false

  /// Settings that differ between families.
  struct Form {
    var container: VideoEncoderSettings.Container
    var codec = VideoEncoderSettings.Codec.h264
    /// Time base of the container.
    var ticksPerSecond = 600
    var bFrames = 0
    var range: ColorRange?
    var matrix: ColorMatrix?
    var clockwiseQuarterTurns = 0
  }

  init(_ path: FilePath, _ form: Form, camera: PinholeCamera, options: SynthesisOptions) throws {
    self.path = path
    var settings = VideoEncoderSettings(
      width: camera.width, height: camera.height, container: form.container)
    settings.codec = form.codec
    settings.ticksPerSecond = form.ticksPerSecond
    settings.bFrames = form.bFrames
    settings.range = form.range
    settings.matrix = form.matrix
    settings.clockwiseQuarterTurns = form.clockwiseQuarterTurns
    settings.crf = options.quality ?? 24
    settings.keyFrameInterval = 100
    work = EncodingWork(try VideoEncoder(path, settings))
    hasThread = JobThread.start { [work] in work.run() }
  }

  deinit { end() }

  /// Appends a picture with its time in the container's time base; times must increase. Throws the
  /// error of an earlier picture, if there was one.
  func append(_ picture: ColorImage, ticks: Int64) throws {
    if hasThread { try work.append(picture, ticks: ticks) } else { work.encode(picture, ticks) }
    try work.check()
  }

  /// The pixels of a picture that is encoded, to render another one into; `nil` if there is none.
  func spare() -> [UInt8]? { work.spare() }

  /// Encodes what is waiting and completes the file; without its index as killing the app leaves it.
  func finish(hasIndex: Bool = true) throws {
    end()
    try work.check()
    try work.finish()
    if !hasIndex { try removeIndex() }
  }

  /// Cuts an MP4 or QuickTime file before its index, which is written last.
  private func removeIndex() throws {
    let indexStart = try MappedFile(path).withBytes(Self.startOfIndex)
    let file = try FileDescriptor.open(path, .writeOnly)
    try file.closeAfter { try file.resize(to: Int64(indexStart)) }
  }

  /// Where the index begins; the end of the file when there is none.
  private static func startOfIndex(_ bytes: RawSpan) -> Int {
    var offset = 0
    while let size = bytes.bigEndian(UInt32.self, at: offset),
      let type = bytes.bigEndian(UInt32.self, at: offset + 4)
    {
      // "moov"
      if type == 0x6d6f_6f76 { return offset }
      // A size of 1 means that a 64-bit size follows the type.
      let length = size == 1 ? bytes.bigEndian(UInt64.self, at: offset + 8) ?? 0 : UInt64(size)
      guard length >= 8, let step = Int(exactly: length), step <= bytes.byteCount - offset else {
        break
      }
      offset += step
    }
    return bytes.byteCount
  }

  private func end() {
    if hasThread, !isOver { work.end() }
    isOver = true
  }
}

/// What the thread and its owner share.
private final class EncodingWork: Sendable {
  // Safe: used by the thread until it has ended, and by the owner afterwards, or where there is none.
  private nonisolated(unsafe) let encoder: VideoEncoder
  /// Pictures with their times; `nil` is the last order.
  private let orders = Mailbox<(picture: ColorImage, ticks: Int64)?>()
  private let places = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let failure = Mutex<(any Error)?>(nil)
  /// Pixels of pictures that are encoded.
  private let spent = Mutex<[[UInt8]]>([])
  private static let mostWaiting = 2

  init(_ encoder: VideoEncoder) {
    self.encoder = encoder
    for _ in 0..<Self.mostWaiting { places.signal() }
  }

  /// The main loop of the thread.
  func run() {
    while let (picture, ticks) = orders.take() {
      encode(picture, ticks)
      spent.withLock { if $0.count < Self.mostWaiting { $0.append(picture.rgb) } }
      places.signal()
    }
    hasEnded.signal()
  }

  func encode(_ picture: ColorImage, _ ticks: Int64) {
    guard failure.withLock({ $0 == nil }) else { return }
    do {
      try encoder.append(picture, ticks: ticks)
    } catch {
      failure.withLock { $0 = error }
    }
  }

  func append(_ picture: ColorImage, ticks: Int64) throws {
    places.wait()
    orders.put((picture, ticks))
  }

  /// Has the thread encode what waits, and waits for its end.
  func end() {
    orders.put(nil)
    hasEnded.wait()
  }

  func spare() -> [UInt8]? { spent.withLock { $0.popLast() } }

  func check() throws {
    if let error = failure.withLock({ $0 }) { throw error }
  }

  func finish() throws { try encoder.finish() }
}
