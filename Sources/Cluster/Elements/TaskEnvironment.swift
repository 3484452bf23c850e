/// The index and the resources of an array task, as the batch system states them to its program.
public struct TaskEnvironment: Hashable, Sendable {
  /// Index in its array.
  public var index: Int
  /// The batch system's name of the task, such as `123_45`.
  var job: String
  /// Number of cores; `nil` for all cores of the machine.
  public var cores: Int?
  /// Memory limit; `nil` if unknown.
  var memoryBytes: Int64?
  /// The batch system's name of the node; `nil` if unknown.
  var node: String?
  /// A folder on the node's own disk for this job only; `nil` if there is none.
  public var scratch: String?
}
