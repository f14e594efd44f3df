// Dashboard bones: what is shown while a dashboard or the list of them is on the way.
import { Bone } from '../../ui/states.tsx';
import styles from './dashboards.module.css';

export function DashboardBones() {
  return (
    <div className={styles['bones']}>
      <Bone width="100%" />
      <Bone width="70%" />
      <Bone width="85%" />
    </div>
  );
}
