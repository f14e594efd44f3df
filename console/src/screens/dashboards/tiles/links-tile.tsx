// Links tile: ways to other dashboards and to addresses outside.
import { Link } from '@tanstack/react-router';
import { ExternalLink, LayoutDashboard } from 'lucide-react';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { useReader } from '../dashboard-requests.ts';
import { useTileFrame } from './tile-data.ts';
import own from './links-tile.module.css';

export function LinksTile({ tile }: { readonly tile: BoundTile }) {
  const { workspaceId } = useTileFrame();
  const { isShared } = useReader();
  return (
    <ul className={own['links']}>
      {(tile.links ?? []).map(({ label, dashboardId, url }, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- two links may be the same
        <li key={at}>
          {dashboardId && isShared && label}
          {dashboardId && !isShared && (
            <Link
              to="/w/$workspaceId/dashboards/$dashboardId"
              params={{ workspaceId, dashboardId }}
            >
              <LayoutDashboard aria-hidden="true" />
              {label}
            </Link>
          )}
          {/* Only https is stored; a page that is opened learns nothing of this one. */}
          {!dashboardId && url?.startsWith('https://') && (
            <a href={url} rel="noreferrer noopener" target="_blank">
              <ExternalLink aria-hidden="true" />
              {label}
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}
