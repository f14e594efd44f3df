// Devices: the list of a workspace.
import { Page } from '../../parts/page.tsx';

export function Devices() {
  return <Page title="Devices" name="Devices" path={['Devices']} />;
}
