import Pipeline

/// The stages of the pipelines that come with the program, for hints where a word is no name of the kind
/// that was asked for.
enum BuiltInStages {
  /// Name and kind, in the order of the pipelines.
  static var all: [(name: String, kind: String)] {
    PipelineFinder.builtIn.flatMap { name in
      ((try? PipelineFinder.load(name))?.stages ?? []).map { ($0.name, $0.kind.name) }
    }
  }

  /// Where the name of a kind is expected and the name of a stage was given: `": aligned is a stage; its kind
  /// is called align-depth"`.
  static func kindHint(_ word: String) -> String? {
    let kinds = StageWords.kinds(ofStage: word, all)
    guard !kinds.isEmpty else { return nil }
    let (noun, verb) = kinds.count == 1 ? ("kind", "is") : ("kinds", "are")
    return ": \(word) is a stage; its \(noun) \(verb) called \(StageWords.list(kinds))"
  }

  /// Where something else is expected and the name of a stage or of a kind was given, what it is.
  static func hint(_ word: String) -> String? {
    if StageWords.kinds(ofStage: word, all).isEmpty {
      return Toolbox.stages[word] == nil ? nil : "\(word) is a kind of stage"
    }
    return "\(word) is a stage"
  }
}
