// Unreadable record: a record that a wrong secrets key or damage makes unusable; work for other tenants continues.

export class UnreadableRecord extends Error {}
