// Usage errors: a command line that cannot be run, with what to write instead.

export class UsageError extends Error {}

/** The commands need a platform and a credential, and they have neither. */
export class NotSignedIn extends Error {}
