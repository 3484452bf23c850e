#if canImport(Glibc)
  import Glibc
#endif

/// What decides which files this process may read: user and groups.
enum ProcessRights {
  /// `1000 1000 27`: numbers of the user, and of all groups in order.
  static let text: String = {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = getgroups(Int32(groups.count), &groups)
    let all = Set(groups.prefix(Int(max(0, count))) + [getegid()]).sorted()
    return ([UInt32(geteuid())] + all).map { "\($0)" }.joined(separator: " ")
  }()
}
