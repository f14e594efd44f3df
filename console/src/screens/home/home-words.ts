// Words of the home page.
import { counted, grouped } from '../../words/formats.ts';
import { plural, wordSet } from '../../words/word-set.ts';

export const homeWords = wordSet(
  {
    title: 'Home',
    quiet: 'No open alarms, no devices offline',
    empty: 'No devices yet',
    silentDevices: (many: number) =>
      plural(many, '1 device is offline', `${grouped(many)} devices are offline`),
    openAlarms: (many: number) => plural(many, '1 open alarm', `${grouped(many)} open alarms`),
    failingOutputs: (many: number, first: string) =>
      plural(many, `${first} is failing`, `${grouped(many)} outputs are failing`),
    failedDeliveries: (many: number) =>
      plural(many, '1 delivery failed', `${grouped(many)} deliveries failed`),
    failedScripts: (many: number) =>
      plural(many, '1 decoder error', `${grouped(many)} decoder errors`),
    failingOutput: (name: string) => `Failing: ${name}`,
    refused: (deviceId: string) => `Rejected: ${deviceId}`,
    refusedSender: 'Uplinks rejected',
    refusedUplinks: 'Uplinks were rejected in the last 24 hours',
    heard: (online: number, total: number) =>
      `${grouped(online)} of ${counted(total, 'device', 'devices')} online`,
    register: 'Add device',
    firstReading: 'Send your first sample',
    alive: 'Devices online',
    of: (total: string) => `of ${total}`,
    rate: 'Samples per minute',
    kept: 'Samples stored',
    inBytes: (bytes: string) => `in ${bytes}`,
    failing: 'Failed deliveries',
    inDay: 'last 24 hours',
    waiting: (count: string) => `${count} pending`,
    arriving: 'Live samples',
    since: (at: string) => `since ${at}`,
    sinceWith: (at: string, count: number) =>
      count === 1
        ? `since ${at}, plus the one before`
        : `since ${at}, plus the ${grouped(count)} before`,
    waitingForSample: 'Waiting for samples…',
    needs: 'Needs attention',
    nothing: 'Nothing needs attention',
    failed: 'Failed deliveries (24 h)',
    scripts: 'Script errors (24 h)',
    stoppedReport: (name: string) => `Report stopped: ${name}`,
    lowBattery: (name: string) => `Low battery: ${name}`,
    silent: (name: string) => `Offline: ${name}`,
    pause: 'Pause',
    resume: 'Resume',
  },
  {
    title: 'Start',
    quiet: 'Keine offenen Alarme, kein Gerät offline',
    empty: 'Noch keine Geräte',
    silentDevices: (many: number) =>
      plural(many, '1 Gerät ist offline', `${grouped(many)} Geräte sind offline`),
    openAlarms: (many: number) => plural(many, '1 offener Alarm', `${grouped(many)} offene Alarme`),
    failingOutputs: (many: number, first: string) =>
      plural(many, `${first} ist gestört`, `${grouped(many)} Ausgänge sind gestört`),
    failedDeliveries: (many: number) =>
      plural(
        many,
        '1 Zustellung ist fehlgeschlagen',
        `${grouped(many)} Zustellungen sind fehlgeschlagen`,
      ),
    failedScripts: (many: number) =>
      plural(many, '1 Decoder-Fehler', `${grouped(many)} Decoder-Fehler`),
    failingOutput: (name: string) => `Gestört: ${name}`,
    refused: (deviceId: string) => `Abgelehnt: ${deviceId}`,
    refusedSender: 'Uplinks abgelehnt',
    refusedUplinks: 'In den letzten 24 Stunden wurden Uplinks abgelehnt',
    heard: (online: number, total: number) =>
      `${grouped(online)} von ${counted(total, 'Gerät', 'Geräten')} online`,
    register: 'Gerät hinzufügen',
    firstReading: 'Ersten Messwert senden',
    alive: 'Geräte online',
    of: (total: string) => `von ${total}`,
    rate: 'Messwerte pro Minute',
    kept: 'Gespeicherte Messwerte',
    inBytes: (bytes: string) => `in ${bytes}`,
    failing: 'Fehlgeschlagene Zustellungen',
    inDay: 'letzte 24 Stunden',
    waiting: (count: string) => `${count} ausstehend`,
    arriving: 'Live-Messwerte',
    since: (at: string) => `seit ${at}`,
    sinceWith: (at: string, count: number) =>
      count === 1 ? `seit ${at}, dazu der davor` : `seit ${at}, dazu die ${grouped(count)} davor`,
    waitingForSample: 'Warten auf Messwerte…',
    needs: 'Zu erledigen',
    nothing: 'Nichts zu erledigen',
    failed: 'Fehlgeschlagene Zustellungen (24 h)',
    scripts: 'Skriptfehler (24 h)',
    stoppedReport: (name: string) => `Bericht angehalten: ${name}`,
    lowBattery: (name: string) => `Batterie schwach: ${name}`,
    silent: (name: string) => `Offline: ${name}`,
    pause: 'Pausieren',
    resume: 'Fortsetzen',
  },
);
