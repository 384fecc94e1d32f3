// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IPaymentToken {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Jobs of ERC-8183, with its events of money and no states but the money itself. A client funds a job, which pays a provider
/// in parts, each less a fee, or gives back what it has left.
contract Jobs {
    struct Job {
        address client;
        address provider;
        address token;
        uint256 left;
    }

    event JobCreated(
        uint256 indexed jobId,
        address indexed client,
        address indexed provider,
        address evaluator,
        uint256 expiredAt,
        address hook
    );
    event JobFunded(uint256 indexed jobId, address indexed client, uint256 amount);
    event JobCompleted(uint256 indexed jobId, address indexed evaluator, bytes32 reason);
    event PaymentReleased(uint256 indexed jobId, address indexed provider, uint256 amount);
    event PlatformFeePaid(uint256 indexed jobId, address indexed treasury, uint256 amount);
    event Refunded(uint256 indexed jobId, address indexed client, uint256 amount);

    address private constant TREASURY = 0x0000000000000000000000000000000000FeE000;

    mapping(uint256 jobId => Job) public jobs;
    uint256 public jobCounter;

    function createJob(address provider, address token) external returns (uint256 jobId) {
        jobId = ++jobCounter;
        jobs[jobId] = Job(msg.sender, provider, token, 0);
        emit JobCreated(jobId, msg.sender, provider, msg.sender, type(uint48).max, address(0));
    }

    function fund(uint256 jobId, uint256 amount) external {
        Job storage job = jobs[jobId];
        job.left += amount;
        if (amount > 0) IPaymentToken(job.token).transferFrom(job.client, address(this), amount);
        emit JobFunded(jobId, job.client, amount);
    }

    /// Pays a part of what a job holds. As published code does, it logs a payment of nothing too.
    function complete(uint256 jobId, uint256 amount, uint256 fee) external {
        Job storage job = jobs[jobId];
        job.left -= amount;
        if (fee > 0) {
            IPaymentToken(job.token).transfer(TREASURY, fee);
            emit PlatformFeePaid(jobId, TREASURY, fee);
        }
        if (amount > fee) IPaymentToken(job.token).transfer(job.provider, amount - fee);
        emit JobCompleted(jobId, msg.sender, 0);
        emit PaymentReleased(jobId, job.provider, amount - fee);
    }

    function claimRefund(uint256 jobId) external {
        Job storage job = jobs[jobId];
        uint256 back = job.left;
        job.left = 0;
        IPaymentToken(job.token).transfer(job.client, back);
        emit Refunded(jobId, job.client, back);
    }
}
