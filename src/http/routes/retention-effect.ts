// Route of the effect of another retention (contract 37).
import { workspaces } from '../../contract/workspaces.ts';
import {
  type EffectSources,
  readRetentionEffect,
} from '../../inventory/workspaces/retention-effect.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

export interface RetentionEffectParts extends Pick<RecordParts, 'records'>, EffectSources {}

export function retentionEffectRoute(parts: RetentionEffectParts): Route {
  return resourceRoute(workspaces.retentionEffect, byId(parts, 'workspace'), ({ params, query }) =>
    readRetentionEffect(parts.records, params.id, query.retentionDays, parts),
  );
}
