// Unreadable record: what a wrong secrets key or damage makes unusable; whoever works for all tenants notes it and goes on.

export class UnreadableRecord extends Error {}
