<?php
// Looks at the stock with a semaphore of System V, which all processes share, for STOCK ms.
$semaphore = sem_get((int) getenv('KEY'), 1, 0666, true);
sem_acquire($semaphore);
usleep((int) getenv('STOCK') * 1000);
sem_release($semaphore);
echo "12 left\n";
