import Engine

/// The stages of the built-in pipelines, for hints about names of the wrong kind.
enum BuiltInStages {
  /// Names and kinds in pipeline order.
  static var all: [(name: String, kind: String)] {
    PipelineFinder.builtIn.flatMap { name in
      ((try? PipelineFinder.load(name))?.stages ?? []).map { ($0.name, $0.kind.name) }
    }
  }

  /// A hint if a stage name was given where a kind is expected: `": aligned is a stage; its kind is
  /// called align-depth"`.
  static func kindHint(_ word: String) -> String? {
    let kinds = StageWords.kinds(ofStage: word, all)
    guard !kinds.isEmpty else { return nil }
    let (noun, verb) = kinds.count == 1 ? ("kind", "is") : ("kinds", "are")
    return ": \(word) is a stage; its \(noun) \(verb) called \(StageWords.list(kinds))"
  }

  /// A hint if a name of a stage or kind was given where something else is expected.
  static func hint(_ word: String) -> String? {
    if StageWords.kinds(ofStage: word, all).isEmpty {
      return Toolbox.stages[word] == nil ? nil : "\(word) is a kind of stage"
    }
    return "\(word) is a stage"
  }
}
