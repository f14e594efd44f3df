// Search of the page that registers a device: the id of a refused uplink.

interface RegisterSearch {
  readonly deviceId?: string;
}

/** Other values are left out. */
export function readRegisterSearch({ deviceId }: Record<string, unknown>): RegisterSearch {
  // An id of digits arrives as a number.
  const isId = typeof deviceId === 'string' || typeof deviceId === 'number';
  return isId ? { deviceId: String(deviceId) } : {};
}
