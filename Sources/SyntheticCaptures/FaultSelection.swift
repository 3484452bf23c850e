/// Finds faults by name and refuses those that cannot be had together.
enum FaultSelection {
  /// The faults named, in the order of `known`, each once.
  static func choose<Fault>(
    _ names: [String], from known: [Fault], describedBy description: (Fault) -> SyntheticFault,
    family: String
  ) throws -> [Fault] {
    for name in names where !known.contains(where: { description($0).name == name }) {
      throw SynthesisError(
        "no fault '\(name)' in \(family); known: \(known.map { description($0).name }.sorted().joined(separator: ", "))"
      )
    }
    let chosen = known.filter { names.contains(description($0).name) }
    var bySubject: [String: String] = [:]
    for fault in chosen.map(description) {
      if let other = bySubject[fault.subject] {
        throw SynthesisError(
          "the faults '\(other)' and '\(fault.name)' exclude each other: both are about the \(fault.subject)"
        )
      }
      bySubject[fault.subject] = fault.name
    }
    return chosen
  }
}
