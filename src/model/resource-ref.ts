// Resource reference: the owner of a record, which authorization compares with the reach of a credential.

export interface Place {
  /**
   * Null for records of the installation itself, which everybody may read and nobody may change.
   */
  readonly organizationId: string | null;
  /** Null for records of the organization itself. */
  readonly workspaceId: string | null;
  /** What the record is called in a 404, for example `device`. */
  readonly what: string;
  readonly id: string;
}
