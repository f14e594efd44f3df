// Source table: the platforms that `heliograph import` reads exports of.
import { chirpStack } from './chirpstack.ts';
import { influxDb } from './influxdb.ts';
import type { Source } from './moved.ts';
import { theThingsStack } from './the-things-stack.ts';
import { thingsBoard } from './thingsboard.ts';

export const sources: Readonly<Record<string, Source>> = {
  tts: theThingsStack,
  chirpstack: chirpStack,
  thingsboard: thingsBoard,
  influxdb: influxDb,
};
