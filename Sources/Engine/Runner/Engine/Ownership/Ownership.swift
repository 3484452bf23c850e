import Captures
import Core
import Glibc
import Synchronization
import SystemPackage

/// Which output folder is whose: a folder belongs to the place that it was first made from, in every
/// later run; namesakes at other places get the next free of `~2`, `~3`, … and keep it.
///
/// Resolving reads and writes nothing. Claiming makes the folders that are new, each with its owner in
/// it, in one step that only one of several runs can take.
public struct Ownership: Sendable {
  let root: FilePath

  /// - Parameter root: the `--output` folder; it need not exist.
  public init(root: FilePath) {
    self.root = root
  }

  /// The folder of every capture, in the order given; of those that are to get a new folder the first
  /// gets the lowest number.
  ///
  /// Cost: one listing of the output and a few small files per capture, on all cores.
  public func resolve(_ recognitions: [Recognition]) -> [CaptureTarget] {
    var listed: [String] = []
    do throws(FileError) {
      listed = try FileSystem.names(in: root)
    } catch {
      if error.kind != .notFound { return recognitions.map { refused($0, error) } }
    }
    let present = Dictionary(grouping: listed.map(OutputName.parts), by: \.name)
    let names = recognitions.map { OutputName.of(id: $0.id) }
    var groups: [String: [Int]] = [:]
    for (index, name) in names.enumerated() { groups[name, default: []].append(index) }
    let all = groups.map { (name: $0.key, members: $0.value) }
    let found = try? concurrentMap(all, share: 32) { group in
      let numbers = Set((present[group.name] ?? []).map(\.number))
      let own = resolve(
        group.members.map { recognitions[$0] }, named: group.name, present: numbers)
      return zip(group.members, own).map { ($0, $1) }
    }
    var targets: [Int: CaptureTarget] = [:]
    for (index, target) in (found ?? []).joined() { targets[index] = target }
    return recognitions.indices.compactMap { targets[$0] }
  }

  /// The target of a capture while the owners of folders cannot be read: no folder is taken for it.
  private func refused(_ recognition: Recognition, _ error: FileError) -> CaptureTarget {
    var target = CaptureTarget(
      recognition: recognition,
      layout: OutputLayout(root: root, name: OutputName.of(id: recognition.id)))
    target.refusal = FailureClassifier.failure(error, .output)
    return target
  }

  /// Captures whose ids become one name, with the numbers of the folders of that name that exist.
  private func resolve(
    _ namesakes: [Recognition], named name: String, present: Set<Int>
  ) -> [CaptureTarget] {
    func layout(_ number: Int) -> OutputLayout {
      OutputLayout(root: root, name: OutputName.numbered(name, number))
    }
    let mark = DeviceErrors.mark
    // The first is looked at also when it is not listed: on some disks it is, in other letters, upper or lower case.
    var states = Dictionary(
      uniqueKeysWithValues: present.union([1]).map { ($0, OutputFolderState(layout($0))) })
    let known = states.keys.sorted()
    var taken: [Int: Int] = [:]
    var targets = namesakes.map { CaptureTarget(recognition: $0, layout: layout(1)) }
    func give(_ number: Int, to index: Int, _ claim: CaptureTarget.Claim?) {
      taken[number] = index
      targets[index].layout = layout(number)
      targets[index].claim = claim
    }
    func isFree(_ number: Int) -> Bool {
      let state = states[number] ?? OutputFolderState(layout(number))
      states[number] = state
      return switch state {
      case .absent, .vacant: true
      case .owned, .remembered, .described, .foreign, .unreadable: false
      }
    }
    var homeless: [Int] = []
    for (index, capture) in namesakes.enumerated() {
      let own = known.first { taken[$0] == nil && states[$0]?.belongs(to: capture) == true }
      if let own {
        let isNoted = if case .owned = states[own] { true } else { false }
        give(own, to: index, isNoted ? nil : .adopt)
      } else {
        homeless.append(index)
      }
    }
    for index in homeless {
      let moved = known.first {
        taken[$0] == nil && states[$0]?.hasMoved(to: namesakes[index]) == true
      }
      if let moved {
        give(moved, to: index, .move)
      } else if case .unreadable(let error) = states[1] {
        targets[index] = refused(namesakes[index], error)
      } else if case .foreign = states[1],
        let error = DeviceErrors.since(mark, at: layout(1).folder).first
      {
        targets[index] = refused(namesakes[index], error)
      } else if case .foreign(let why) = states[1] {
        targets[index] = refused(namesakes[index], Self.foreign(layout(1), why))
      } else {
        var number = 1
        while taken[number] != nil || !isFree(number) { number += 1 }
        give(number, to: index, .make)
      }
    }
    return targets
  }

  /// Takes possession of what `resolve` found to be new, adopted or moved. Where another run was faster,
  /// everything is resolved again, so that the capture gets the next number.
  ///
  /// Cost: making two folders and a small file per new capture, on all cores.
  ///
  /// - Parameter progress: is told how many of the folders to take are taken, from several threads.
  public func claim(
    _ targets: [CaptureTarget], progress: @Sendable (_ done: Int, _ all: Int) -> Void = { _, _ in }
  ) -> [CaptureTarget] {
    var targets = targets
    for attempt in 0..<100 {
      // The view of a shared disk may be old for a second.
      if attempt > 2 { usleep(20_000) }
      guard targets.contains(where: { $0.claim != nil }) else { return targets }
      let open = targets.indices.filter { targets[$0].claim != nil }
      let done = Atomic(0)
      // Each has a folder of its own.
      let taken = try? concurrentMap(count: open.count) { [targets] number in
        let outcome = Result { try targets[open[number]].takeFolder() }
        progress(done.add(1, ordering: .relaxed).newValue, open.count)
        return outcome
      }
      var wasFaster = false
      for (index, outcome) in zip(open, taken ?? []) {
        switch outcome {
        case .success(true): targets[index].claim = nil
        case .success(false): wasFaster = true
        case .failure(let error):
          let isNew = targets[index].claim == .make
          targets[index].claim = nil
          // A record that cannot be brought up to date is no reason to fail: nothing may be to do.
          guard isNew else { continue }
          targets[index].refusal =
            (error as? FileError).map { FailureClassifier.failure($0, .output) }
            ?? Failure(message: "\(error)", cause: .program)
        }
      }
      if !wasFaster { return targets }
      let refused = targets.filter { $0.refusal != nil }
      targets = resolve(targets.map(\.recognition)).map { target in
        refused.first { $0.recognition == target.recognition } ?? target
      }
    }
    return targets
  }

  /// Why the results of `target` may not be written to its folder, looked at again by whoever is about
  /// to write; `nil` when it is theirs, which it is made to be where it is not claimed.
  static func refusal(_ target: CaptureTarget) throws -> Failure? {
    if let refusal = target.refusal { return refusal }
    return try obstacle(target).map { Failure(message: $0, cause: .program) }
  }

  private static func obstacle(_ target: CaptureTarget) throws -> String? {
    let mark = DeviceErrors.mark
    let folder = target.layout.folder.shown
    /// Where the machine failed at a note of the owner, it is not known whose the folder is.
    func taken() throws -> String {
      if let error = DeviceErrors.since(mark, at: target.layout.folder).first { throw error }
      return "\(folder): was taken by another run (run the same command again)"
    }
    switch OutputFolderState(target.layout) {
    case .owned(let owner):
      if OutputFolderState.owned(owner).belongs(to: target.recognition) { return nil }
      guard target.claim == .move || owner.location.isGone else {
        return "\(folder): belongs to the capture at \(owner.location.path.shown)"
          + " (another run was faster; run the same command again)"
      }
      return try target.takeFolder() ? nil : taken()
    case .absent, .vacant, .remembered, .described:
      var target = target
      switch OutputFolderState(target.layout) {
      case .absent, .vacant: target.claim = .make
      case let state where state.belongs(to: target.recognition): target.claim = .adopt
      default: break
      }
      guard target.claim != nil else {
        return "\(folder): belongs to another capture (another run was faster; run the same command"
          + " again)"
      }
      if try target.takeFolder() { return nil }
      return OutputFolderState(target.layout).belongs(to: target.recognition) ? nil : try taken()
    case .unreadable(let error): throw error
    case .foreign(let why):
      if let error = DeviceErrors.since(mark, at: target.layout.folder).first { throw error }
      throw Self.foreign(target.layout, why)
    }
  }

  private static func foreign(_ layout: OutputLayout, _ why: String) -> FileError {
    .notOurs(
      layout.folder,
      "\(why): not made by scanmill for this capture, so nothing is written there")
  }
}

extension CaptureTarget {
  /// Takes possession of its output folder; `false` when another process has taken it meanwhile.
  func takeFolder() throws -> Bool {
    switch claim {
    case nil: true
    case .make:
      switch OutputFolderState(layout) {
      case .absent: try make()
      case .vacant: try note { if case .vacant = $0 { true } else { false } }
      // Another process was faster.
      case .owned, .remembered, .described, .foreign: false
      case .unreadable(let error): throw error
      }
    case .adopt:
      try note { state in
        switch state {
        case .vacant, .owned, .remembered, .described: true
        case .absent, .foreign, .unreadable: false
        }
      }
    case .move: try move()
    }
  }

  /// The folder appears with its owner in it: made beside, then renamed to a name that must be free.
  private func make() throws -> Bool {
    // In no folder of their own: one that is swept up when it is empty is missed by the next run, the longer
    // the later a shared disk tells.
    let root = try HeldFolder.making(following: layout.root)
    let claims = try root.makeFolder(OutputNames.notes)
    let beside = "claim-\(getpid())-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    let place = try claims.makeFolder(beside)
    defer { try? claims.remove(beside) }
    try place.makeFolder("new").makeFolder(OutputNames.notes)
      .write(JSONText.pretty(OwnerRecord(recognition)), as: OutputNames.owner)
    do throws(FileError) {
      try place.renameNew("new", to: root, as: layout.name)
      return true
    } catch {
      // Another machine's folder may be in the way before this one's view of a shared disk shows it.
      if error.code == .fileExists || error.code == .directoryNotEmpty { return false }
      if try root.entry(layout.name) != nil { return false }
      throw error
    }
  }

  /// Writes the record into the folder that is there. What is written to is what `isRight` is asked about,
  /// whatever has been put in its place since.
  private func note(where isRight: (OutputFolderState) -> Bool) throws -> Bool {
    guard let folder = try HeldFolder.making(following: layout.root).folder(layout.name) else {
      return false
    }
    let state = OutputFolderState(of: folder)
    if case .unreadable(let error) = state { throw error }
    return try isRight(state) && OwnerRecord(recognition).writeNew(in: folder)
  }

  /// Under the capture's lock: of two runs one rewrites the record, the other finds it rewritten.
  private func move() throws -> Bool {
    guard let folder = try HeldFolder.making(following: layout.root).folder(layout.name) else {
      return false
    }
    let notes = try folder.makeFolder(OutputNames.notes)
    guard
      let lock = try FileLock(in: notes, holder: "scanmill claim")
    else { return true }
    defer { withExtendedLifetime(lock) {} }
    let record = OwnerRecord(recognition)
    switch OutputFolderState(of: folder) {
    case .owned(var owner):
      if owner.location == record.location { return true }
      guard owner.location.isGone else { return false }
      (owner.folder, owner.stem, owner.id) = (record.folder, record.stem, record.id)
      try owner.replace(in: notes)
      return true
    case .remembered:
      try record.replace(in: notes)
      return true
    case .absent, .vacant, .described, .foreign: return false
    case .unreadable(let error): throw error
    }
  }
}

/// Whether results would land in captures, or captures lie where results would go. Looked at before
/// anything is made; such an output is refused.
public struct OutputOverlap: Sendable, CustomStringConvertible {
  public let description: String

  /// How many folders above an output are looked at: as deep as captures are searched for.
  private static let levelsAbove = 6

  /// `nil` when `output` is a fine place for the results of `targets`.
  public init?(
    of output: FilePath, with targets: [CaptureTarget], registry: CaptureRegistry
  ) {
    let place = PathSafety.resolvedAsFarAsPossible(output)
    guard
      let why = Self.capture(around: place, targets)
        ?? Self.unasked(around: place, registry)
        ?? Self.results(around: place)
        ?? Self.capture(inResultsOf: targets, place)
        ?? Self.unasked(inResultsOf: targets, registry)
    else { return nil }
    description = why
  }

  /// Why a staging folder and an output do not go together; `nil`: they lie apart.
  public static func ofStaging(_ staging: FilePath, output: FilePath) -> String? {
    let staging = PathSafety.resolvedAsFarAsPossible(staging)
    let place = PathSafety.resolvedAsFarAsPossible(output)
    let how: String
    if place == staging || FileID(ofFolder: place).map({ $0 == FileID(ofFolder: staging) }) == true
    {
      how = "is the staging folder"
    } else if place.starts(with: staging) {
      how = "lies in the staging folder \(staging.shown)"
    } else if staging.starts(with: place) {
      how = "contains the staging folder \(staging.shown)"
    } else {
      return results(around: place)
    }
    return
      "--output \(output.shown) \(how): results and uploads must be kept apart; choose another folder"
  }

  /// The folder of the capture that a folder is, or lies in; `nil`: it lies in none.
  public static func capture(around folder: FilePath, _ registry: CaptureRegistry) -> FilePath? {
    var folder = PathSafety.resolvedAsFarAsPossible(folder)
    for _ in 0...levelsAbove {
      if let listing = try? FolderListing(of: folder) {
        let certain = registry.recognizeFolder(listing).filter { $0.certainty == .certain }
        if let whole = owner(certain) { return whole.folder }
      }
      guard folder.removeLastComponent() else { break }
    }
    return nil
  }

  /// A capture of this run that the output is, or lies in.
  private static func capture(around output: FilePath, _ targets: [CaptureTarget]) -> String? {
    let around = targets.filter {
      !$0.recognition.isFile && output.starts(with: $0.recognition.folder)
    }
    guard let whole = owner(around.map(\.recognition)) else { return nil }
    return text(output, whole.folder)
  }

  /// A capture that was not asked for.
  private static func unasked(around output: FilePath, _ registry: CaptureRegistry) -> String? {
    capture(around: output, registry).map { text(output, $0) }
  }

  /// Results of a capture that the output is, or lies in: what lies there is moved and retired with them.
  private static func results(around output: FilePath) -> String? {
    var folder = output
    for _ in 0...levelsAbove {
      guard let layout = OutputLayout.candidate(folder) else { return nil }
      guard case .owned = OutputFolderState(layout) else {
        folder.removeLastComponent()
        continue
      }
      let how =
        output == folder
        ? "is the folder of the results of a capture" : "lies in the results of \(folder.shown)"
      return
        "--output \(output.shown) \(how): name the output that they belong to, \(layout.root.shown), or a folder beside it"
    }
    return nil
  }

  /// The capture that has a folder to itself: one without a stem, or the only stem. A folder of several
  /// belongs to none of them, and captures that are one file each have no folder.
  private static func owner(_ captures: [Recognition]) -> Recognition? {
    if let whole = captures.first(where: { $0.stem == nil }) { return whole }
    let shelves = Dictionary(grouping: captures, by: \.folder)
    return shelves.values.first { $0.count == 1 }?.first
  }

  private static func text(_ output: FilePath, _ capture: FilePath) -> String {
    let how =
      output == capture ? "is the folder of a capture" : "lies in the capture \(capture.shown)"
    return "--output \(output.shown) \(how): results never go into captures; choose another folder"
  }

  /// A capture of this run that lies where results of this run would go.
  private static func capture(
    inResultsOf targets: [CaptureTarget], _ output: FilePath
  ) -> String? {
    let names = Set(targets.map(\.layout.name)).union(OutputName.reserved)
    for target in targets {
      let capture = target.recognition.path
      var inside = capture
      guard capture != output, inside.removePrefix(output), let first = inside.components.first
      else { continue }
      let name = first.withPlatformString { PathText.text(of: $0) }
      if names.contains(name) { return text(capture, in: output.appending(name: name)) }
    }
    return nil
  }

  /// A capture that was not asked for in a folder that is not ours and has the name of results.
  private static func unasked(
    inResultsOf targets: [CaptureTarget], _ registry: CaptureRegistry
  ) -> String? {
    for target in targets where target.refusal != nil && !FileSystem.isLink(target.layout.folder) {
      if let found = CaptureFinder(registry).find(target.layout.folder).captures.first {
        return text(found.path, in: target.layout.folder)
      }
    }
    return nil
  }

  private static func text(_ capture: FilePath, in results: FilePath) -> String {
    "the capture \(capture.shown) lies where results would go (\(results.shown)); choose another --output"
  }
}
