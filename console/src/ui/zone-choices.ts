// Zone choices: whose clock times are shown by.

/** That of the device, of its workspace, of the browser, or UTC. */
export const zoneChoices = ['device', 'workspace', 'mine', 'utc'] as const;
export type ZoneChoice = (typeof zoneChoices)[number];
