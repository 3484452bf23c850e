/// Names of stages on the command line: options repeated, and lists with commas.
enum StageNames {
  /// Each name once, in the order given: `["depth,color", "depth"]` is `["depth", "color"]`. An
  /// empty name stays, and is refused as a stage that no pipeline has.
  static func split(_ lists: [String]) -> [String] {
    SelectionArguments.split(lists).reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
  }
}
