// Where a record lives: what authorisation compares with the reach of a credential.

export interface Place {
  readonly organizationId: string;
  /** Null for records of the organization itself. */
  readonly workspaceId: string | null;
  /** What the record is called in a 404, for example `device`. */
  readonly what: string;
  readonly id: string;
}
