/// Sorts stages so that each follows the stages that it needs, otherwise in the order of the file.
enum StageOrder {
  /// Reports every cycle once, as the path around it.
  static func sort(
    _ entries: [PipelineFile.StageEntry], _ diagnostics: inout DiagnosticList
  ) -> [String] {
    var needs: [String: [String]] = [:]
    for entry in entries {
      needs[entry.name.value] = (entry.needs + entry.optional).map(\.stage.value)
    }
    var order: [String] = []
    var done: Set<String> = []

    func visit(_ name: String, path: [String]) -> [String]? {
      if done.contains(name) || needs[name] == nil { return nil }
      if let start = path.firstIndex(of: name) { return Array(path[start...]) + [name] }
      for need in needs[name] ?? [] {
        if let cycle = visit(need, path: path + [name]) { return cycle }
      }
      done.insert(name)
      order.append(name)
      return nil
    }

    for entry in entries {
      while let cycle = visit(entry.name.value, path: []) {
        let mark = entries.first { $0.name.value == cycle[0] }?.name.mark
        diagnostics.add(
          mark,
          "stages need each other in a circle: " + cycle.joined(separator: " -> ")
            + "; take one of them out of 'needs'")
        // The cycle is marked as done, so that the next one is found.
        done.formUnion(cycle)
      }
    }
    return order
  }
}
