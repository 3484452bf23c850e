/// A fault of one family: its description, the forms of captures that can have it, and its change
/// to a capture's plan.
struct PlannedFault<Form: RawRepresentable<String> & Sendable, Plan>: Sendable {
  let description: SyntheticFault
  /// Least number of frames of the capture, if larger than for the family's other faults.
  let leastFrames: Int?
  fileprivate(set) var applies: @Sendable (Form) -> Bool
  let edit: @Sendable (inout Plan) -> Void

  init(
    _ name: String, _ subject: String, leastFrames: Int? = nil, _ summary: String,
    in applies: @escaping @Sendable (Form) -> Bool = { _ in true },
    _ edit: @escaping @Sendable (inout Plan) -> Void
  ) {
    description = SyntheticFault(name: name, summary: summary, subject: subject)
    self.leastFrames = leastFrames
    self.applies = applies
    self.edit = edit
  }

  /// A fault that gives one property of the plan another value.
  init<Value: Sendable>(
    _ name: String, _ subject: String, leastFrames: Int? = nil, _ summary: String,
    _ property: any WritableKeyPath<Plan, Value> & Sendable, _ value: Value,
    in applies: @escaping @Sendable (Form) -> Bool = { _ in true }
  ) {
    self.init(name, subject, leastFrames: leastFrames, summary, in: applies) {
      $0[keyPath: property] = value
    }
  }

  /// Faults of the files of a stream: which frame has which.
  ///
  /// - Parameter noun: what one file is called.
  static func files(
    _ stream: String, _ noun: String,
    _ files: any WritableKeyPath<Plan, FilesPlan> & Sendable, _ edits: [(ItemEdit, Int)],
    in applies: @escaping @Sendable (Form) -> Bool = { _ in true }
  ) -> [PlannedFault] {
    edits.map { edit, frame in
      let (name, summary) =
        switch edit {
        case .empty: ("empty-\(stream)", "a \(noun) of no bytes")
        case .cut: ("cut-\(stream)", "half a \(noun)")
        case .otherKind:
          ("\(stream)-kind", "a \(noun) of \(stream == "depth" ? "eight bits" : "color")")
        case .otherSize: ("\(stream)-size", "a \(noun) of half the size")
        default: ("\(stream)-hole", "the \(noun) of frame \(frame) is not there")
        }
      return PlannedFault(name, stream, summary, in: applies) {
        $0[keyPath: files].edits[frame] = edit
      }
    }
  }

  /// Applies the named faults in the order of `known`, each once, and returns their descriptions.
  ///
  /// - Parameters:
  ///   - form: the capture's form, whose raw value is its name on the command line.
  ///   - leastFrames: least number of frames for faults that state none.
  /// - Throws: `SynthesisError` for unknown names, and for faults that exclude each other, that the
  ///   form cannot have or that need more frames.
  static func apply(
    _ names: [String], of known: [PlannedFault], to plan: inout Plan,
    form: Form, frames: Int, leastFrames: Int, family: String
  ) throws -> [SyntheticFault] {
    let chosen = try choose(names, from: known, family: family)
    for fault in chosen {
      let name = fault.description.name
      guard fault.applies(form) else {
        throw SynthesisError("the generation '\(form.rawValue)' cannot have the fault '\(name)'")
      }
      let least = fault.leastFrames ?? leastFrames
      guard frames >= least else {
        throw SynthesisError("the fault '\(name)' needs \(least) frames or more")
      }
      fault.edit(&plan)
    }
    return chosen.map(\.description)
  }

  /// Throws for unknown faults and for those that exclude each other.
  private static func choose(
    _ names: [String], from known: [PlannedFault], family: String
  ) throws -> [PlannedFault] {
    for name in names where !known.contains(where: { $0.description.name == name }) {
      let all = known.map(\.description.name).sorted().joined(separator: ", ")
      throw SynthesisError("no fault '\(name)' in \(family); known: \(all)")
    }
    let chosen = known.filter { names.contains($0.description.name) }
    var bySubject: [String: String] = [:]
    for fault in chosen.map(\.description) {
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

extension Array {
  /// The faults for some forms of captures only.
  func only<Form, Plan>(in applies: @escaping @Sendable (Form) -> Bool) -> Self
  where Element == PlannedFault<Form, Plan> {
    map { fault in
      var fault = fault
      fault.applies = { [all = fault.applies] in all($0) && applies($0) }
      return fault
    }
  }
}

extension PlannedFault where Plan: TrackedPlan {
  /// Exchanged and repeated times in the middle.
  static var disorder: [PlannedFault] {
    [
      PlannedFault("swapped-times", "times", "two neighboring times are exchanged") {
        $0.damage.swappedFrame = $0.frames / 2
      },
      PlannedFault("equal-times", "times", "two neighboring frames have one time") {
        $0.damage.repeatedFrame = $0.frames / 2
      },
    ]
  }

  static func gap(
    _ number: String, _ frames: Int, in applies: @escaping @Sendable (Form) -> Bool = { _ in true }
  ) -> PlannedFault {
    PlannedFault(
      "gap", "times", "\(number) camera frames are dropped in the middle", in: applies
    ) {
      $0.damage.gap = (afterFrame: $0.frames / 2, frames: frames)
    }
  }

  static func poseJump(
    _ distance: String = "1.8 m", factor: Double = 1,
    in applies: @escaping @Sendable (Form) -> Bool = { _ in true }
  ) -> PlannedFault {
    PlannedFault("pose-jump", "poses", "tracking relocalizes \(distance) away", in: applies) {
      $0.damage.poseJump = ($0.frames / 2, factor)
    }
  }
}

/// Intentional damage of a capture.
public struct SyntheticFault: Hashable, Sendable {
  /// The name on the command line: `count-minus-1`.
  public let name: String
  /// What the fault does, as a clause.
  public let summary: String
  /// Faults of one subject exclude each other.
  public let subject: String
}
