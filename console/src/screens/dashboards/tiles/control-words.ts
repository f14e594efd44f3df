// Words of control tiles.
import { grouped } from '../../../words/formats.ts';
import { wordSet } from '../../../words/word-set.ts';

type Limit = number | undefined;

export const controlWords = wordSet(
  {
    device: 'This device',
    oneDevice: 'A control needs exactly one device. Select one.',
    ask: (action: string) => `${action}?`,
    askAgain: (action: string) => `Really: ${action}?`,
    value: (key: string, value: string) => `${key}: ${value}.`,
    note: (device: string) => `${device} receives the command the next time it connects.`,
    send: 'Send',
    cancel: 'Cancel',
    choose: 'Select…',
    limits: (min: Limit, max: Limit) => {
      if (min === undefined && max === undefined) return '';
      if (min === undefined) return `At most ${grouped(max ?? 0)}`;
      return max === undefined
        ? `At least ${grouped(min)}`
        : `From ${grouped(min)} to ${grouped(max)}`;
    },
    nothingSent: 'Nothing sent yet',
    past: 'Go back to now to send commands.',
    earlier: 'Earlier versions send no commands.',
    states: {
      QUEUED: 'Queued',
      SENT: 'Sent',
      ACKNOWLEDGED: 'Acknowledged',
      FAILED: 'Failed',
      EXPIRED: 'Expired',
    },
    carrier: 'Carrier',
    carriers: { loraDownlink: 'LoRaWAN', mqttDownlink: 'MQTT' },
    label: 'Button label',
    payload: 'Payload',
    payloadHint: 'JSON object for the encoder of the device type',
    payloadWrong: 'Enter a JSON object',
    port: 'Port',
    topic: 'Topic',
    input: 'Input',
    inputs: {
      NONE: 'None',
      NUMBER: 'Number',
      SWITCH: 'Switch',
      CHOICE: 'Selection',
      TEXT: 'Text',
    },
    inputKey: 'Member of the payload',
    options: 'Options',
    optionsHint: 'One per line',
    least: 'Minimum',
    greatest: 'Maximum',
    confirm: 'Ask before sending',
    oneOfDevices: 'One device',
  },
  {
    device: 'Dieses Gerät',
    oneDevice: 'Eine Steuerung braucht genau ein Gerät. Wählen Sie eines aus.',
    ask: (action: string) => `${action}?`,
    askAgain: (action: string) => `Wirklich: ${action}?`,
    value: (key: string, value: string) => `${key}: ${value}.`,
    note: (device: string) => `${device} erhält den Befehl bei der nächsten Verbindung.`,
    send: 'Senden',
    cancel: 'Abbrechen',
    choose: 'Auswählen…',
    limits: (min: Limit, max: Limit) => {
      if (min === undefined && max === undefined) return '';
      if (min === undefined) return `Höchstens ${grouped(max ?? 0)}`;
      return max === undefined
        ? `Mindestens ${grouped(min)}`
        : `Von ${grouped(min)} bis ${grouped(max)}`;
    },
    nothingSent: 'Noch nichts gesendet',
    past: 'Kehren Sie zu jetzt zurück, um Befehle zu senden.',
    earlier: 'Frühere Versionen senden keine Befehle.',
    states: {
      QUEUED: 'Eingereiht',
      SENT: 'Gesendet',
      ACKNOWLEDGED: 'Bestätigt',
      FAILED: 'Fehlgeschlagen',
      EXPIRED: 'Abgelaufen',
    },
    carrier: 'Übertragung',
    carriers: { loraDownlink: 'LoRaWAN', mqttDownlink: 'MQTT' },
    label: 'Beschriftung',
    payload: 'Nutzdaten',
    payloadHint: 'JSON-Objekt für den Encoder des Gerätetyps',
    payloadWrong: 'Geben Sie ein JSON-Objekt ein',
    port: 'Port',
    topic: 'Topic',
    input: 'Eingabe',
    inputs: {
      NONE: 'Keine',
      NUMBER: 'Zahl',
      SWITCH: 'Schalter',
      CHOICE: 'Auswahl',
      TEXT: 'Text',
    },
    inputKey: 'Element der Nutzdaten',
    options: 'Optionen',
    optionsHint: 'Eine pro Zeile',
    least: 'Minimum',
    greatest: 'Maximum',
    confirm: 'Vor dem Senden fragen',
    oneOfDevices: 'Ein Gerät',
  },
);
