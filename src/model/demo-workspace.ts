// Demo workspace: its content and its mark, for the platform and for `npm run demo` (contract 37).

/** Properties of a workspace of simulated devices, which it keeps under any name. */
export const simulatedMark = { simulated: 'heliograph-demo' } as const;
/** The connector of the simulated devices. */
export const simulatedConnectorName = 'Demo Devices';
/** Where the campus of the simulated devices is. */
export const campusTimeZone = 'Europe/Zurich';

const office = [{ from: '07:00', to: '19:00' }];

export const demoWorkspaceDraft = {
  name: 'Demo',
  description: 'A simulated campus whose raw payloads run through real decoders',
  settings: {
    timezone: campusTimeZone,
    workingHours: {
      enabled: true,
      days: {
        MONDAY: office,
        TUESDAY: office,
        WEDNESDAY: office,
        THURSDAY: office,
        FRIDAY: office,
      },
    },
  },
} as const;
