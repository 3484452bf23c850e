/// All that a worker is told before it starts, as one line of JSON on its standard input. Before it, by the same
/// connection, comes its log.
public struct WorkerOrder: Sendable, Codable {
  public var target: CaptureTarget
  public var pipeline: PipelineSource
  public var options: RunOptions
  public var run: String
  /// Cores that it may keep busy at first, of `options.cores`.
  var share: Int
  /// The most resident private memory it may come to use.
  var memoryLimitBytes: Int64?
  /// The limit of open descriptors that programs of others are started with; `nil`: that of the worker.
  var descriptorLimit: UInt64?
}

/// What a worker is told while it works, a line of JSON each.
enum WorkerInstruction: Hashable, Sendable, Codable {
  /// Keep this many cores busy from now on.
  case share(Int)
  /// Start nothing more; end what can be ended within the grace.
  case stop(graceSeconds: Double)
}

/// What a worker says on its standard output, a line of JSON each.
enum WorkerMessage: Sendable, Codable {
  /// The first line: it has its order.
  case begun
  case event(RunEvent)
  /// Something has gone on since it said so last: counts frames, files and waits that are in order. Said by the
  /// thread that would stop a stage which makes no progress.
  case alive(signs: Int)
  /// The worker ends itself now: it uses more memory than it may.
  case exceededMemory(usedBytes: Int64)
  /// The last line.
  case ended(CaptureOutcome)
}
