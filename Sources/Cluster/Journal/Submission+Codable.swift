import Core
import SystemPackage

/// Coded as a map with paths as text, for `submissions.jsonl` and plans, which people read too.
/// Unknown keys are ignored; lists may be absent.
extension Submission {
  private enum Key: String, CodingKey {
    case number, name, comment, firstElement, count, throttle, request, excludedNodes, after
    case runFolder, output, program, arguments
  }

  public init(from decoder: any Decoder) throws {
    let map = try decoder.container(keyedBy: Key.self)
    func path(_ key: Key) throws -> FilePath {
      FilePath(text: try map.decode(String.self, forKey: key))
    }
    self.init(
      number: try map.decode(Int.self, forKey: .number),
      name: try map.decode(String.self, forKey: .name),
      comment: try map.decode(String.self, forKey: .comment),
      firstElement: try map.decode(Int.self, forKey: .firstElement),
      count: try map.decode(Int.self, forKey: .count),
      throttle: try map.decodeIfPresent(Int.self, forKey: .throttle),
      request: try map.decode(JobRequest.self, forKey: .request),
      runFolder: try path(.runFolder), output: try path(.output), program: try path(.program),
      arguments: try map.decodeIfPresent([String].self, forKey: .arguments) ?? [])
    excludedNodes = try map.decodeIfPresent([String].self, forKey: .excludedNodes) ?? []
    after = try map.decodeIfPresent([String].self, forKey: .after) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var map = encoder.container(keyedBy: Key.self)
    try map.encode(number, forKey: .number)
    try map.encode(name, forKey: .name)
    try map.encode(comment, forKey: .comment)
    try map.encode(firstElement, forKey: .firstElement)
    try map.encode(count, forKey: .count)
    try map.encodeIfPresent(throttle, forKey: .throttle)
    try map.encode(request, forKey: .request)
    if !excludedNodes.isEmpty { try map.encode(excludedNodes, forKey: .excludedNodes) }
    if !after.isEmpty { try map.encode(after, forKey: .after) }
    try map.encode(runFolder.text, forKey: .runFolder)
    try map.encode(output.text, forKey: .output)
    try map.encode(program.text, forKey: .program)
    try map.encode(arguments, forKey: .arguments)
  }
}
