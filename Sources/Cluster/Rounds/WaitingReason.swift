/// Why a pending array task will never start.
enum WaitingReason {
  /// The request is wrong; no task with the same request will start.
  case configuration(String)
  /// The node is the cause.
  case lost(String)
  case failure(String)

  /// `nil` for reasons that can pass.
  static func neverStarts(_ view: TaskView) -> WaitingReason? {
    guard let reason = view.reason else { return nil }
    switch reason {
    case "BadConstraints", "PartitionConfig", "AccountNotAllowed", "InvalidAccount", "InvalidQOS":
      return .configuration(
        "the batch system will never start what was asked for (\(reason)): look at partition, account, "
          + "qos, cpus, memory, time and extra in the profile")
    case "launch failed requeued held", "launch_failed_requeued_held":
      return .lost("launch failed")
    case "DependencyNeverSatisfied":
      return .failure("its dependency can never be satisfied (DependencyNeverSatisfied)")
    case "JobHeldAdmin":
      return .failure("an administrator holds its job (JobHeldAdmin): ask them")
    default: return nil
    }
  }

  /// The reason as text for display.
  static func words(_ reason: String) -> String {
    switch reason {
    case "Priority": "Priority: others come first"
    case "Resources": "Resources: nodes are busy"
    case "JobArrayTaskLimit": "JobArrayTaskLimit: as many as may run at a time"
    case "JobHeldUser": "JobHeldUser: somebody holds the job; 'scontrol release' releases it"
    case "BeginTime": "BeginTime: not before its time"
    case "None", "": "just submitted"
    case _ where reason.hasPrefix("ReqNodeNotAvail"): "ReqNodeNotAvail: nodes are down or reserved"
    case _ where reason.hasPrefix("QOS") || reason.hasPrefix("Assoc"):
      "\(reason): a limit of the site"
    default: reason
    }
  }
}
