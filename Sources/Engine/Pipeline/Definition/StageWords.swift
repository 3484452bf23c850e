import Core

/// Explains unknown names of stages and kinds. `aligned` is a stage, a step of one pipeline;
/// `align-depth` is its kind, named by `uses:`. A name of the wrong sort is distinguished from a
/// misspelled one.
public enum StageWords {
  /// The text after "no stage 'WORD'", with leading punctuation: what the word is, else the closest
  /// stage, else the list of stages.
  ///
  /// - Parameter stages: name and kind of each, in the order of the pipeline.
  public static func hint(_ word: String, _ stages: [(name: String, kind: String)]) -> String {
    let ofKind = stages.filter { $0.kind == word }.map(\.name)
    switch ofKind.count {
    case 0: break
    case 1: return ": \(word) is a kind; the stage is called \(ofKind[0])"
    default: return ": \(word) is a kind; its stages are called \(list(ofKind))"
    }
    let suggestion = NearestName.suggestion(word, among: stages.map(\.name))
    if !suggestion.isEmpty || stages.isEmpty { return suggestion }
    return "; stages: " + stages.map(\.name).joined(separator: ", ")
  }

  /// The kinds of stages with a name, each once, in the order of the list.
  public static func kinds(
    ofStage name: String, _ stages: [(name: String, kind: String)]
  ) -> [String] {
    stages.filter { $0.name == name }.reduce(into: []) { kinds, stage in
      if !kinds.contains(stage.kind) { kinds.append(stage.kind) }
    }
  }

  /// `a`, `a and b`, `a, b and c`.
  public static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  /// What an unknown parameter is answered with: `"; it has: every, first"`, each name once in the order given, or
  /// `"; it has none"`.
  static func parameters(_ known: [String]) -> String {
    known.isEmpty ? "; it has none" : "; it has: \(known.uniqued.joined(separator: ", "))"
  }
}
