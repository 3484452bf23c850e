/// What an element is told by the batch system that runs it: its number, and what it may use. All that an
/// element knows of it.
public struct TaskEnvironment: Hashable, Sendable {
  /// Within its array.
  public var index: Int
  /// In the words of the batch system, `123_45`.
  public var job: String
  /// `nil`: those of the machine.
  public var cores: Int?
  /// What the batch system lets it use; `nil`: no limit that is known.
  public var memoryBytes: Int64?
  /// How the batch system calls the node; `nil`: it does not say.
  public var node: String?
  /// A folder on the node's own disk that is the job's alone; `nil`: it gives none.
  public var scratch: String?

  public init(index: Int, job: String, cores: Int?, memoryBytes: Int64?, node: String? = nil) {
    self.node = node
    self.index = index
    self.job = job
    self.cores = cores
    self.memoryBytes = memoryBytes
  }
}
