import Core
import SystemPackage

extension OutputSnapshot {
  /// Leaves everything private that is known of this output out. Adds aliases of new captures to the table
  /// in `.scanmill/`.
  public var redaction: Redaction {
    var known = Set(rows.map(\.id))
    var subjects = rows.map(\.subject)
    for run in runs {
      for attempt in run.attempts where known.insert(attempt.capture).inserted {
        subjects.append(
          Redaction.Subject(id: attempt.capture, family: attempt.family, path: attempt.path))
      }
    }
    var users: Set<String> = []
    for user in runs.compactMap(\.user) where !user.isEmpty { users.insert(user) }
    return Redaction(
      output: root, subjects: subjects, staging: watch?.staging, users: users.sorted())
  }
}
