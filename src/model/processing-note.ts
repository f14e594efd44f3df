// Processing note: an event in the processing of a payload, for the device's owner (contract 27).
import type { EpochMs } from './instant.ts';
import type { JsonObject } from './json.ts';

export type NoteLevel = 'INFO' | 'WARN' | 'ERROR';
export type NoteSource = 'UPLINK' | 'SCRIPT' | 'OUTPUT' | 'RULE' | 'DOWNLINK';

/** Stages return notes; only a flow gives them a time, a device and an id. */
export interface Note {
  readonly level: NoteLevel;
  readonly source: NoteSource;
  readonly message: string;
  readonly details?: JsonObject;
}

export interface ProcessingLogEntry extends Note {
  readonly id: string;
  readonly deviceId: string;
  readonly timestamp: EpochMs;
  readonly correlationId: string;
}
