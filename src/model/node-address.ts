// Node address: where the other nodes of a cluster reach a node.

export interface NodeAddress {
  /** Of its data folder, without change. */
  readonly id: string;
  /** Of its internal port. */
  readonly url: string;
}
